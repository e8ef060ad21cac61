package memory

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// WithoutPrivate takes <private>…</private> out of text, in any case and spacing, nested, and to the end where it is not closed. private are the passages, trimmed;
// what an agent repeats of them Conceal finds.
func WithoutPrivate(text string) (kept string, private []string) {
	var b strings.Builder
	done, depth, start := 0, 0, 0
	for i := 0; i < len(text); {
		t, ok := privateTag(text[i:])
		switch {
		case !ok:
		case !t.closing:
			if depth == 0 {
				b.WriteString(text[done:i])
				start = i + t.size
			}
			depth++
		case depth > 0:
			if depth--; depth == 0 {
				private = append(private, text[start:i])
				done = i + t.size
			}
		}
		i += t.size
	}
	if depth > 0 {
		private = append(private, text[start:])
		done = len(text)
	} else if done == 0 {
		return text, nil
	}
	b.WriteString(text[done:])
	for i, p := range private {
		private[i] = strings.TrimSpace(p)
	}
	return b.String(), slices.DeleteFunc(private, func(p string) bool { return p == "" })
}

type tag struct {
	size    int // what to step over, where there is no tag
	closing bool
}

// privateTag reads a whole tag, attributes included, at the start of s.
func privateTag(s string) (tag, bool) {
	if c := s[0]; c != '<' && c != '&' && c < 0x80 {
		return tag{size: 1}, false
	}
	size, ok := bracket(s)
	if !ok || size < len(s) && isLetter(s[size]) && s[size]|0x20 != 'p' { // most tags are of another name
		return tag{size: size}, false
	}
	name, rest, closing := mark(s[size:])
	if name != "private" {
		return tag{size: size}, false
	}
	for n := 0; n < len(rest); {
		r, step := decode(rest[n:])
		if n += step; r == '>' {
			return tag{len(s) - len(rest) + n, closing}, true
		}
		if r == '<' {
			break
		}
	}
	return tag{size: size}, false // "<private" and no ">": not a tag
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Conceal replaces what text repeats of private passages, as WithoutPrivate gives them, by "[private]": a passage, one of its lines, and those of its
// words that are no words (digits, inner capitals, signs, great length). open says that text is still growing: then an end that may be the beginning of
// such a passage is held back as well.
func Conceal(text string, private []string, open bool) string {
	var parts []string
	for _, p := range private {
		parts = append(parts, pieces(p)...)
	}
	if open {
		tail := 0
		for _, p := range parts {
			for n := min(len(p)-1, len(text)); n > tail; n-- {
				if strings.HasSuffix(text, p[:n]) {
					tail = n
				}
			}
		}
		text = text[:len(text)-tail]
	}
	// Longest first, or a word would break the line that it stands in.
	slices.SortStableFunc(parts, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, p := range parts {
		pairs = append(pairs, p, "[private]")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// pieces are the parts of a private passage that tell something by themselves.
func pieces(passage string) []string {
	var list []string
	if len(passage) >= 3 { // what is shorter is everywhere
		list = append(list, passage)
	}
	for line := range strings.Lines(passage) {
		if line = strings.TrimSpace(line); len(line) >= 8 {
			list = append(list, line)
		}
	}
	for word := range strings.FieldsSeq(passage) {
		if word = strings.TrimFunc(word, unicode.IsPunct); len(word) >= 4 && !plainWord(word) {
			list = append(list, word)
		}
	}
	return list
}

// plainWord reports whether word is one that a language may well have: letters in one case but for the first, and no more than 15 of them.
func plainWord(word string) bool {
	n := 0
	for i, r := range word {
		if !unicode.IsLetter(r) && r != '\'' && r != '’' || i > 0 && unicode.IsUpper(r) {
			return false
		}
		n++
	}
	return n <= 15
}
