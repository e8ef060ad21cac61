package privacy

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// seenText is a text as a reader sees it: without a terminal's colours and without invisible characters, which would
// hide a secret from the rules.
type seenText struct {
	text string
	cuts []cut // what was left out, in order
}

// A cut is where something was left out of a text, and how much up to there.
type cut struct{ at, all int }

// seen returns what is seen of text; ok is false where that is all of it.
func seen(text string) (s seenText, ok bool) {
	i := firstHidden(text)
	if i == len(text) {
		return seenText{}, false
	}
	var b strings.Builder
	b.Grow(len(text))
	done, all := 0, 0
	for i < len(text) {
		n := hidden(text[i:])
		b.WriteString(text[done:i])
		all += n
		s.cuts = append(s.cuts, cut{b.Len(), all})
		done = i + n
		i = done + firstHidden(text[done:])
	}
	b.WriteString(text[done:])
	s.text = b.String()
	return s, true
}

// start returns where the character at i stands in the whole text.
func (s seenText) start(i int) int {
	if n := sort.Search(len(s.cuts), func(n int) bool { return s.cuts[n].at > i }); n > 0 {
		return i + s.cuts[n-1].all
	}
	return i
}

// end returns where a span that ends at i ends in the whole text.
func (s seenText) end(i int) int {
	if i == 0 {
		return 0
	}
	return s.start(i-1) + 1
}

// firstHidden returns where the first hidden character is, or the text's length.
func firstHidden(text string) int {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		n := letterSize(text[i:])
		if n == 0 {
			var r rune
			if r, n = utf8.DecodeRuneInString(text[i:]); r != '\u0085' && unseen(r) {
				return i
			}
		}
		i += n
	}
	return len(text)
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
