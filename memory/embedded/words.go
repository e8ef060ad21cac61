package embedded

import (
	"strings"
	"sync"
	"unicode"
)

// terms makes of a text what is looked for: words in lower case without accents and endings, identifiers as a whole and in their parts
// (maxRetryCount: maxretrycount, max, retry, count), CJK in overlapping pairs. Index and query make them alike.
func terms(text string) []string {
	var list []string
	for _, w := range words(text) {
		list = append(list, w.terms()...)
	}
	return list
}

// A word is a run of letters and digits, joined by single signs where an identifier or a name is (retry_count, v1.2, it's).
type word string

// words cuts a text into words. CJK runs are words of their own.
func words(text string) []word {
	var list []word
	start, cjk := -1, false
	flush := func(end int) {
		if start >= 0 {
			list = append(list, word(text[start:end]))
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case wide(r):
			if !cjk {
				flush(i)
			}
			if start < 0 {
				start = i
			}
			cjk = true
			continue
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r), r == '_':
			if cjk {
				flush(i)
			}
			if start < 0 {
				start = i
			}
		case (r == '\'' || r == '’' || r == '.' || r == '-') && start >= 0 && !cjk && joins(text[i:]):
		default:
			flush(i)
		}
		cjk = false
	}
	flush(len(text))
	return list
}

// joins reports whether a sign, the first character of s, stands directly before a letter or digit.
func joins(s string) bool {
	first := true
	for _, r := range s {
		if !first {
			return !wide(r) && (unicode.IsLetter(r) || unicode.IsNumber(r))
		}
		first = false
	}
	return false
}

func wide(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー'
}

const longestTerm = 64 // bytes; what is longer is no word that anybody types

// terms of one word: itself and, of an identifier, its parts.
func (w word) terms() []string {
	runes := []rune(string(w))
	if len(runes) > 0 && wide(runes[0]) {
		return pairs(runes)
	}
	parts := w.parts()
	if len(parts) == 1 {
		if t := term(parts[0]); t != "" {
			return []string{t}
		}
		return nil
	}
	var list []string
	whole := ""
	for _, p := range parts {
		whole += plain(p)
		if t := term(p); t != "" {
			list = append(list, t)
		}
	}
	if len(whole) <= longestTerm {
		list = append(list, whole)
	}
	return list
}

// parts cuts an identifier at signs, at changes of case, and between letters and digits where the digits are many (sha256 is a name, 20261104x is not).
func (w word) parts() []string {
	var parts []string
	runes := []rune(string(w))
	start := 0
	cut := func(end int) {
		if end > start {
			parts = append(parts, string(runes[start:end]))
		}
		start = end
	}
	for i, r := range runes {
		switch {
		case r == '_' || r == '.' || r == '-':
			cut(i)
			start = i + 1
		case r == '\'' || r == '’': // it's, l'index: the short side says nothing
			cut(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && !plural(runes[i+1:])):
			cut(i)
		}
	}
	cut(len(runes))
	return parts
}

// plural reports whether rest is the s of a plural, as in PDFs.
func plural(rest []rune) bool { return rest[0] == 's' && (len(rest) == 1 || !unicode.IsLower(rest[1])) }

// term is a part as it is indexed; empty when it says nothing by itself.
func term(part string) string {
	p := plain(part)
	if len(p) > longestTerm || len(p) < 2 && !(len(p) == 1 && p[0] >= '0' && p[0] <= '9') {
		return ""
	}
	return stem(p)
}

// pairs are the overlapping pairs of a CJK run: no dictionary says where its words end.
func pairs(runes []rune) []string {
	if len(runes) == 1 {
		return []string{string(runes)}
	}
	var list []string
	for i := range len(runes) - 1 {
		list = append(list, string(runes[i:i+2]))
	}
	return list
}

// accents maps letters to what people type when their keyboard has none of them.
var accents = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i", 'ё': "е"}
	for to, from := range map[string]string{
		"a": "àáâãäåāăą", "c": "çćĉċč", "d": "ď", "e": "èéêëēĕėęě", "g": "ĝğġģ", "h": "ĥħ", "i": "ìíîïĩīĭį", "j": "ĵ", "k": "ķ",
		"l": "ĺļľŀ", "n": "ñńņň", "o": "òóôõöōŏő", "r": "ŕŗř", "s": "śŝşšș", "t": "ţťŧț", "u": "ùúûüũūŭůűų", "w": "ŵ", "y": "ýÿŷ", "z": "źżž",
	} {
		for _, r := range from {
			m[r] = to
		}
	}
	return m
})

// plain is s in lower case and without accents.
func plain(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] >= 0x80 {
			ascii = false
			break
		}
	}
	s = strings.ToLower(s)
	if ascii {
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
