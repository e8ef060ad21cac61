package memory

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Neutralise makes foreign text safe to stand inside our block: what no reader sees is taken out (control, bidi, zero-width, tag and other ignorable
// characters; any line end becomes \n, bytes that are not UTF-8 become U+FFFD), and the opening bracket of every tag that a harness, the daemon or we
// give a meaning to becomes "[", in whatever case, spacing or entity form it is written. Words stay as they are.
//
// Neutralise(Neutralise(x)) == Neutralise(x). Clean text is given back as it is and allocates nothing.
func Neutralise(text string) string { return unmark(visible(text)) }

// marks are the tags, with "-" between the words. Our own and the daemon's older one start alike: whatever begins with signet-memory is one of them.
var marks = []struct {
	name   string
	prefix bool // longer names count too
}{
	{"signet-memory", true},
	{"memory-context", false},
	{"memory-feedback", false},
	{"system-reminder", false},
	{"private", false},
}

// visible drops what cannot be seen and makes text valid UTF-8.
func visible(text string) string {
	i := firstUnseen(text)
	if i == len(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	b.WriteString(text[:i])
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n':
		case r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			b.WriteByte('\n')
		case unseen(r):
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

func firstUnseen(text string) int {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || r == '\u0085' || r == '\u2028' || r == '\u2029' || unseen(r) {
			return i
		}
		i += size
	}
	return len(text)
}

func unseen(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r) // signs that can be seen, for all that Unicode files them under format
}

// unmark puts "[" in place of the bracket that opens each mark.
func unmark(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		size, ok := 1, false
		if c := text[i]; c == '<' || c == '&' || c >= utf8.RuneSelf {
			if size, ok = bracket(text[i:]); ok {
				name, _, _ := mark(text[i+size:])
				ok = name != ""
			}
		}
		if ok {
			b.WriteString(text[done:i])
			b.WriteByte('[')
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

// bracket reads an opening angle bracket at the start of s, in any spelling. Where there is none, size is what to step over.
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

// mark reads what follows an opening bracket: the name of a mark, or of its closing tag, and the rest of the text. The name is empty when there is none.
func mark(s string) (name, rest string, closing bool) {
	i := skip(s, unicode.IsSpace)
	if r, size := glyph(s[i:]); r == '/' || r == '\u2044' || r == '\u2215' {
		closing = true
		i += size
		i += skip(s[i:], unicode.IsSpace)
	}
	for _, m := range marks {
		n, ok := readName(s[i:], m.name)
		if !ok {
			continue
		}
		if r, _ := glyph(s[i+n:]); !m.prefix && (unicode.IsLetter(r) || unicode.IsDigit(r) || hyphen(r)) {
			continue
		}
		return m.name, s[i+n:], closing
	}
	return "", "", false
}

// readName matches name at the start of s: letters in any case and width, for "-" any dash, underscore, white space or nothing.
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

// sameLetter folds case beyond ASCII, where ſ is an s and the Kelvin sign a k.
func sameLetter(r, want rune) bool {
	if r == want || r|0x20 == want && r < utf8.RuneSelf {
		return true
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		if f == want {
			return true
		}
	}
	return false
}

// skip gives the length of the run of glyphs at the start of s for which f holds.
func skip(s string, f func(rune) bool) int {
	n := 0
	for n < len(s) {
		r, size := glyph(s[n:])
		if !f(r) {
			break
		}
		n += size
	}
	return n
}

// glyph reads the next character that can be seen. At the end of s it gives 0.
func glyph(s string) (r rune, size int) {
	for size < len(s) {
		r, n := decode(s[size:])
		size += n
		if !unseen(r) {
			return r, size
		}
	}
	return 0, size
}

// decode reads one character at the start of s, which is not empty, as a lenient reader of markup would: an entity for what it stands for, however
// often its ampersand was escaped, a full-width form for its ASCII twin.
func decode(s string) (r rune, size int) {
	switch r, size = rune(s[0]), 1; {
	case r == '&':
		r, size = entity(s)
	case r >= utf8.RuneSelf:
		r, size = utf8.DecodeRuneInString(s)
	}
	switch {
	case '\uff01' <= r && r <= '\uff5e':
		r -= '\uff01' - '!'
	case r == '\ufe64':
		r = '<'
	}
	return r, size
}

// entities are the named ones that matter to a tag.
var entities = map[string]rune{
	"lt": '<', "LT": '<', "gt": '>', "GT": '>', "amp": '&', "AMP": '&', "sol": '/', "hyphen": '-', "dash": '-', "lowbar": '_', "nbsp": ' ', "Tab": ' ',
	"NewLine": ' ', "ensp": ' ', "emsp": ' ', "thinsp": ' ', "shy": 0, "zwj": 0, "zwnj": 0, "lang": '\u27e8', "langle": '\u27e8', "lsaquo": '\u2039',
}

// entity decodes the entity at the start of s, which begins with "&"; a semicolon is not asked for. What is no entity is an ampersand.
func entity(s string) (r rune, size int) {
	i := 1
	for {
		if n := len("amp;"); len(s) >= i+n && strings.EqualFold(s[i:i+n], "amp;") {
			i += n
			continue
		}
		break
	}
	if r, n := numeric(s[i:]); n > 0 {
		return r, i + n
	}
	end := i
	for end < len(s) && end-i < len("NewLine") && (s[end]|0x20 >= 'a' && s[end]|0x20 <= 'z') {
		end++
	}
	for ; end > i; end-- { // the longest name first: "&ltsignet" is an entity and a word
		if r, ok := entities[s[i:end]]; ok {
			if end < len(s) && s[end] == ';' {
				end++
			}
			return r, end
		}
	}
	if i > 1 { // escaped ampersands and then no entity
		return '&', i
	}
	return '&', 1
}

// numeric decodes "#60;" or "#x3c;"; n is 0 where s does not begin with such.
func numeric(s string) (r rune, n int) {
	if len(s) < 2 || s[0] != '#' {
		return 0, 0
	}
	base, start := 10, 1
	if s[1]|0x20 == 'x' {
		base, start = 16, 2
	}
	end := start
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || base == 16 && s[end]|0x20 >= 'a' && s[end]|0x20 <= 'f') {
		end++
	}
	v, err := strconv.ParseUint(strings.TrimLeft(s[start:end], "0"), base, 32)
	if err != nil || v > unicode.MaxRune {
		return 0, 0
	}
	if end < len(s) && s[end] == ';' {
		end++
	}
	return rune(v), end
}
