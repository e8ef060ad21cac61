package language

import (
	"strings"
	"sync"
	"unicode"
)

// A Word is a run of letters and digits. Inside an identifier or a name single signs join them (retry_count, v1.2,
// it's).
type Word struct {
	Text string
	At   int // in bytes, from the start of the text
}

// Words cuts a text into words. A run of a script that sets no spaces is one word.
func Words(text string) []Word {
	list := make([]Word, 0, len(text)/6+1)
	start, run := -1, false
	flush := func(end int) {
		if start >= 0 {
			list = append(list, Word{text[start:end], start})
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case r < 0x80 && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || r == '_'), // quick, for ASCII
			!(r < 0x80) && !unspaced(r) && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)):
			if run {
				flush(i)
			}
			if start < 0 {
				start = i
			}
		case unspaced(r):
			if !run {
				flush(i)
			}
			if start < 0 {
				start = i
			}
			run = true
			continue
		case (r == '\'' || r == '’' || r == '.' || r == '-') && start >= 0 && !run && continuesWord(text[i:]):
		default:
			flush(i)
		}
		run = false
	}
	flush(len(text))
	return list
}

// continuesWord reports whether the first character of s, a sign, stands directly before a letter or digit.
func continuesWord(s string) bool {
	first := true
	for _, r := range s {
		if !first {
			return !unspaced(r) && (unicode.IsLetter(r) || unicode.IsNumber(r))
		}
		first = false
	}
	return false
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

// isUnspaced reports whether a word is a run of a script that sets no spaces.
func (w Word) isUnspaced() bool {
	for _, r := range w.Text {
		return unspaced(r)
	}
	return false
}

// Parts cuts an identifier at signs and at changes of case. A word that is no identifier is one part; one of signs
// alone, as _, has none.
func (w Word) Parts() []string {
	plain := true
	for i := range len(w.Text) {
		if c := w.Text[i]; c < 'a' || c > 'z' {
			if i > 0 || c < 'A' || c > 'Z' {
				plain = false
				break
			}
		}
	}
	if plain {
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
		case r == '_' || r == '.' || r == '-' || r == '\'' || r == '’': // it's, l'index: the short part is a stop word
			cut(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) &&
			i+1 < len(runes) && unicode.IsLower(runes[i+1]) && !isPlural(runes[i+1:])):
			cut(i)
		}
	}
	cut(len(runes))
	return parts
}

// isPlural reports whether rest is the s of a plural, as in PDFs.
func isPlural(rest []rune) bool {
	return rest[0] == 's' && (len(rest) == 1 || !unicode.IsLower(rest[1]))
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
	if ascii(s) {
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

func foldedWords(words []Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = Fold(w.Text)
	}
	return list
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
