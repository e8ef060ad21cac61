// Package chars is about the characters of a text: where it may be cut, and which of them a terminal or a shell may be
// given.
package chars

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Boundary is n, kept within text, or where the character begins that would be cut in two there. Of bytes that are
// not UTF-8 each is a character.
func Boundary[T string | []byte](text T, n int) int {
	n = max(min(n, len(text)), 0)
	for i := n; i >= 0 && i < len(text) && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return n
}

// Cut returns text of at most n bytes, cut between characters. What it returns of a longer text is a copy: it keeps
// nothing else of it in memory.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.Clone(text[:Boundary(text, n)])
}

// OneLine is text with each run of white space as one space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// MaxTitle is how many characters a title has at most.
const MaxTitle = 80

// Title returns the first words of a text, on one line.
func Title(text string) string {
	text = OneLine(Printable(Cut(text, 8*MaxTitle)))
	if runes := []rune(text); len(runes) > MaxTitle {
		return string(runes[:MaxTitle-1]) + "…"
	}
	return text
}

// Units returns the length of a text in UTF-16 units, in which JavaScript counts.
func Units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
