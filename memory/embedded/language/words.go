package language

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A Word is a run of letters and digits. Inside an identifier or a name single signs join them (retry_count, v1.2,
// it's).
type Word struct {
	Text   string
	Folded string // Fold of it
	At     int    // in bytes, from the start of the text
	Run    bool   // it is of a script that sets no spaces
}

// Words cuts a text into words. A run of a script that sets no spaces is one word.
func Words(text string) []Word {
	list := make([]Word, 0, len(text)/6+1)
	start, in := 0, noWord
	add := func(end int) {
		if in != noWord {
			list = append(list, Word{text[start:end], Fold(text[start:end]), start, in == unspacedRun})
		}
	}
	for i, r := range text {
		of := partOf(r)
		if of == noWord && in == spacedWord && strings.ContainsRune("'’.-", r) { // it may join two parts of a word
			next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
			if next != '_' && partOf(next) == spacedWord {
				of = spacedWord
			}
		}
		if of != in {
			add(i)
			start, in = i, of
		}
	}
	add(len(text))
	return list
}

// What a character is part of.
const (
	noWord = iota
	spacedWord
	unspacedRun
)

func partOf(r rune) int {
	switch {
	case r < 0x80: // quick, for ASCII
		if r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return spacedWord
		}
	case unspaced(r):
		return unspacedRun
	case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
		return spacedWord
	}
	return noWord
}

// unspaced reports whether a character is of a script that sets no spaces between words; of these, pairs of characters
// are indexed. Korean counts as one, because its words end in particles.
func unspaced(r rune) bool {
	switch {
	case r < 0xE00:
		return false
	case r < 0x2E80:
		return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer, unicode.Hangul)
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー'
}

// SetsNoSpaces reports whether a character is of a script that may be cut between any two of them.
func SetsNoSpaces(r rune) bool { return unspaced(r) && !unicode.Is(unicode.Hangul, r) }

// Parts cuts an identifier at signs and at changes of case. A word that is no identifier is one part; one of signs
// alone, as _, has none.
func (w Word) Parts() []string {
	if strings.Trim(w.Text[1:], "abcdefghijklmnopqrstuvwxyz") == "" && w.Text[0] != '_' { // of most words
		return []string{w.Text}
	}
	var parts []string
	runes := []rune(w.Text)
	start := 0
	cut := func(end int) {
		if end > start {
			parts = append(parts, string(runes[start:end]))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case strings.ContainsRune("_.-'’", r): // it's, l'index: the short part is a stop word
			cut(i)
			start = i + 1
		case i > start && opensPart(runes, i):
			cut(i)
		}
	}
	cut(len(runes))
	return parts
}

// opensPart reports whether a capital begins a part: behind a small letter, or before one (HTTPServer) that is not
// the s of a plural (PDFs).
func opensPart(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i]) {
		return false
	}
	if unicode.IsLower(runes[i-1]) {
		return true
	}
	if rest := runes[i+1:]; unicode.IsUpper(runes[i-1]) && len(rest) > 0 && unicode.IsLower(rest[0]) {
		return rest[0] != 's' || len(rest) > 1 && unicode.IsLower(rest[1])
	}
	return false
}

// longestTerm is how long a term may be, in bytes; a longer word is one that nobody types.
const longestTerm = 64

// accents maps letters to what people type whose keyboard does not have them.
var accents = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{'’': "'", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th",
		'ł': "l", 'ı': "i", 'ё': "е"}
	for to, from := range map[string]string{
		"a": "àáâãäåāăą", "c": "çćĉċč", "d": "ď", "e": "èéêëēĕėęě", "g": "ĝğġģ", "h": "ĥħ", "i": "ìíîïĩīĭį", "j": "ĵ",
		"k": "ķ",
		"l": "ĺļľŀ", "n": "ñńņň", "o": "òóôõöōŏő", "r": "ŕŗř", "s": "śŝşšș", "t": "ţťŧț", "u": "ùúûüũūŭůűų", "w": "ŵ",
		"y": "ýÿŷ", "z": "źżž",
	} {
		for _, r := range from {
			m[r] = to
		}
	}
	return m
})

// Fold is s in lower case and without accents.
func Fold(s string) string {
	s = strings.ToLower(s)
	if utf8.RuneCountInString(s) == len(s) { // ASCII
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if to, ok := accents()[r]; ok {
			b.WriteString(to)
		} else if r < 0x300 || r > 0x36F {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// A Set is terms without an order.
type Set map[string]bool

// SetOf makes a set of terms.
func SetOf(terms []string) Set {
	set := make(Set, len(terms))
	for _, t := range terms {
		set[t] = true
	}
	return set
}

// WordSet makes the set of the words in lists, folded, when it is first used.
func WordSet(lists ...string) func() Set {
	return sync.OnceValue(func() Set { return SetOf(strings.Fields(Fold(strings.Join(lists, " ")))) })
}
