package privacy

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// skip returns the length of the run of glyphs at the start of s for which f holds.
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

// glyph reads the next visible character; size counts the invisible ones before it. At the end of s r is 0.
func glyph(s string) (r rune, size int) {
	for size < len(s) {
		r, n := decode(s[size:])
		size += n
		if !unseen(r) && !unicode.Is(unicode.Mn, r) { // a mark on the letter before it
			return r, size
		}
	}
	return 0, size
}

// decode reads one character at the start of s, which is not empty, as a lenient reader of markup would: an entity
// stands for its character, however often its ampersand was escaped, and a full-width form for the ASCII character.
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

// entities are the named ones that may stand in a tag.
var entities = map[string]rune{
	"lt": '<', "LT": '<', "gt": '>', "GT": '>', "amp": '&', "AMP": '&', "sol": '/', "hyphen": '-', "dash": '-',
	"lowbar": '_', "nbsp": ' ', "Tab": ' ', "NewLine": ' ', "ensp": ' ', "emsp": ' ', "thinsp": ' ',
	"shy": 0, "zwj": 0, "zwnj": 0, "lang": '\u27e8', "langle": '\u27e8', "lsaquo": '\u2039',
}

// entity decodes the entity at the start of s, which begins with "&"; its semicolon may be missing. Where there is no
// entity it returns the ampersand.
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

// numeric decodes "#60;" or "#x3c;" at the start of s; n is 0 where there is neither.
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
