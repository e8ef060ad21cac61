package privacy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Neutralise makes foreign text safe to stand inside our block. Invisible characters are taken out (control, bidi,
// zero-width, tag and other ignorable ones; any line end becomes \n, bytes that are not UTF-8 become U+FFFD). The
// opening bracket of every tag that a harness, the daemon or we give a meaning to becomes "[", in whatever case,
// spacing or entity form the tag is written. Words stay as they are.
//
// Neutralise(Neutralise(x)) == Neutralise(x). Clean text is given back as it is and allocates nothing.
func Neutralise(text string) string { return unmark(visible(text)) }

const privateMark = "private"

// marks are the names of such tags, with "-" between the words; behind a star longer names count, too. Our own and one
// of the daemon's begin with signet-memory.
var marks = []string{
	"signet-memory*", "memory-context", "memory-feedback", "system-reminder", privateMark,
	// What models are trained to take for the frame of a conversation.
	"function-calls", "function-results", "function-result", "antml*", "invoke", "tool-calls", "tool-call",
	"tool-responses", "tool-response", "tool-results", "tool-result", "start-of-turn", "end-of-turn", "system-prompt",
	"system-message", "system", "sys",
}

// bracketMarks are the marks that stand in square brackets: [INST].
var bracketMarks = []string{"inst", "tool-calls", "tool-results", "available-tools", "system-prompt", "system-message"}

// unmark puts "[" in place of the bracket that opens each mark, and "(" where "[" would make another mark.
func unmark(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		size, ok := 1, false
		if c := text[i]; c == '<' || c == '[' || c == '&' || c >= utf8.RuneSelf {
			r, n := decode(text[i:])
			if size, ok = bracket(text[i:]); ok {
				ok = isMark(text[i+size:]) || isBarMark(text[i+size:])
			} else if r == '[' {
				size, ok = n, isBracketMark(text[i+n:])
			}
		}
		if ok {
			b.WriteString(text[done:i])
			if isBracketMark(text[i+size:]) {
				b.WriteByte('(')
			} else {
				b.WriteByte('[')
			}
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// bracket reads an opening angle bracket at the start of s, in any spelling. Where there is none, size is how many
// bytes to step over.
func bracket(s string) (size int, ok bool) {
	r, size := decode(s)
	switch r {
	case '<', '\u2039', '\u2329', '\u276e', '\u27e8', '\u3008', '\u02c2':
		return size, true
	}
	if s[0] == '&' {
		size = 1 // an entity may begin inside what looked like another
	}
	return size, false
}

// isMark reports whether what follows an opening bracket is the name of a mark, or of its closing tag.
func isMark(s string) bool {
	s, _ = tagName(s)
	return slices.ContainsFunc(marks, func(mark string) bool {
		_, ok := readMark(s, mark)
		return ok
	})
}

// tagName takes off what may stand between an opening bracket and a name: white space, and the slash of a closing tag.
func tagName(s string) (name string, closing bool) {
	s = s[skip(s, unicode.IsSpace):]
	r, size := glyph(s)
	if !slash(r) {
		return s, false
	}
	s = s[size:]
	return s[skip(s, unicode.IsSpace):], true
}

// readMark matches a mark at the start of s, and returns what follows it.
func readMark(s, mark string) (rest string, ok bool) {
	name, isPrefix := strings.CutSuffix(mark, "*")
	n, ok := readName(s, name)
	if !ok {
		return "", false
	}
	r, _ := glyph(s[n:])
	return s[n:], isPrefix || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !hyphen(r)
}

// isBarMark reports whether what follows an opening bracket is a mark like |im_start|>: a name between bars. Code has
// such operators, too, but a space stands beside the bar.
func isBarMark(s string) bool {
	r, size := glyph(s)
	if !bar(r) {
		return false
	}
	s = s[size:]
	last := ' '
	for n := 0; n < 64 && s != ""; n++ {
		r, size := glyph(s)
		s = s[size:]
		switch {
		case bar(r):
			next, _ := glyph(s)
			return !unicode.IsSpace(last) && next == '>'
		case r == 0 || r == '<' || r == '>' || r == '\n' || n == 0 && unicode.IsSpace(r):
			return false
		}
		last = r
	}
	return false
}

func bar(r rune) bool {
	return r == '|' || r == '¦' || r == '│' || r == '∣' || r == 'ǀ' || r == '￨'
}

// isBracketMark reports whether what follows an opening square bracket is one of bracketMarks, or its closing tag.
func isBracketMark(s string) bool {
	if r, size := glyph(s); slash(r) {
		s = s[size:]
	}
	for _, name := range bracketMarks {
		if n, ok := readName(s, name); ok {
			if r, _ := glyph(s[n:]); r == ']' {
				return true
			}
		}
	}
	return false
}

// readName matches name at the start of s: letters in any case and width, and for "-" any run of dashes, underscores
// and white space, also an empty one.
func readName(s, name string) (n int, ok bool) {
	for _, want := range name {
		if want == '-' {
			n += skip(s[n:], func(r rune) bool { return hyphen(r) || unicode.IsSpace(r) })
			continue
		}
		r, size := glyph(s[n:])
		if !sameLetter(r, want) {
			return 0, false
		}
		n += size
	}
	return n, true
}

func hyphen(r rune) bool { return r == '_' || unicode.Is(unicode.Dash, r) }

// sameLetter reports whether r is the small letter want, whatever its case (ſ is an s, the Kelvin sign a k), or looks
// like it.
func sameLetter(r, want rune) bool {
	if r == want || r|0x20 == want && r < utf8.RuneSelf {
		return true
	}
	if r < utf8.RuneSelf {
		return false
	}
	if lookalike(r) == want {
		return true
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f == want {
			return true
		}
	}
	return false
}

func slash(r rune) bool { return r == '/' || r == '\u2044' || r == '\u2215' }
