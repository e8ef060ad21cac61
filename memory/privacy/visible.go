package privacy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible drops invisible characters and terminal colours, makes every line end \n, and makes text valid UTF-8.
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
			size = hidden(text[i:])
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// firstUnseen returns where the first byte is that visible changes, or the text's length.
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

// unseen reports whether r is invisible; line feed and tab count as visible.
func unseen(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point) &&
		// these are visible, though Unicode files them under format
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
