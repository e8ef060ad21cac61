package privacy

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible drops invisible characters and terminal colours, makes every line end \n, and makes text valid UTF-8.
func visible(text string) string {
	i := first(text, func(r rune) bool { return r == utf8.RuneError || r == '\u2028' || r == '\u2029' || unseen(r) })
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

// first returns the index of the first character that want accepts, or the text's length. It accepts no printable ASCII
// character.
func first(text string, want func(rune) bool) int {
	for i := 0; i < len(text); {
		if ' ' <= text[i] && text[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if want(r) {
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
	if '\u3400' <= r && r <= 0xd7ff { // the letters of Chinese and Korean
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point) &&
		// these are visible, though Unicode files them under format
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// A cut is where something was left out of a text, and how much up to there.
type cut struct{ at, all int }

// seen returns a text as a reader sees it, and what was left out, in order: a terminal's colours and invisible
// characters, which would hide a secret from the rules.
func seen(text string) (string, []cut) {
	hides := func(r rune) bool { return r != '\r' && r != '\u0085' && unseen(r) } // line ends do not
	i := first(text, hides)
	if i == len(text) {
		return text, nil
	}
	var b strings.Builder
	b.Grow(len(text))
	var cuts []cut
	done, all := 0, 0
	for i < len(text) {
		n := hidden(text[i:])
		b.WriteString(text[done:i])
		all += n
		cuts = append(cuts, cut{b.Len(), all})
		done = i + n
		i = done + first(text[done:], hides)
	}
	b.WriteString(text[done:])
	return b.String(), cuts
}

// inWhole returns where the character at i of a text with cuts stands in the whole one.
func inWhole(cuts []cut, i int) int {
	if n := sort.Search(len(cuts), func(n int) bool { return cuts[n].at > i }); n > 0 {
		return i + cuts[n-1].all
	}
	return i
}

// hidden returns the length of the hidden character at the start of s, with the rest of a terminal's colour.
func hidden(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	if s[0] != '\x1b' || len(s) < 2 || s[1] != '[' {
		return n
	}
	for i := 2; i < min(len(s), maxColour); i++ {
		switch c := s[i]; {
		case '@' <= c && c <= '~':
			return i + 1
		case c < '0' || c > '?':
			return n
		}
	}
	return n
}

const maxColour = 32 // bytes of what sets a colour
