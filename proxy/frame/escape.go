package frame

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// escape decodes the escape that text begins with, a surrogate pair as one. It returns the rune and the escape's length
// in bytes; 0 if it is not valid.
func escape(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	if c := shortEscapes[text[1]]; c != 0 {
		return rune(c), 2
	}
	if r = hex4(text); r < 0 {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if pair := utf16.DecodeRune(r, hex4(text[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// shortEscapes has what an escape of two bytes stands for, by its second; 0 for none.
var shortEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// hex4 returns the number in the \uXXXX that text begins with, -1 if it does not.
func hex4(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range text[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// halfRune returns the incomplete character at the end of b, nil if there is none.
func halfRune(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if rest := b[len(b)-n:]; utf8.RuneStart(rest[0]) {
			if utf8.FullRune(rest) {
				return nil
			}
			return rest
		}
	}
	return nil
}

// cutEnd removes from the end of b, which was cut there, the word that was cut in two; or, without a space nearby, at
// least half an escape or half a character.
func cutEnd(b []byte) []byte {
	if n := bytes.LastIndexByte(b, ' '); n >= 0 && n > len(b)-nearSpace {
		return b[:n]
	}
	return b[:len(b)-len(unfinished(b))]
}

// SkipCut returns b, which was cut out of the inside of a JSON string, from where it can be decoded: after a space
// nearby, so that no word is cut in two, or else after what may be half an escape or half a character. A byte that
// cannot stand inside of an escape ends any that was cut.
func SkipCut(b []byte) []byte {
	if n := bytes.IndexByte(b, ' '); n >= 0 && n < nearSpace {
		return b[n+1:]
	}
	for n := 1; n < len(b); n++ {
		c := b[n-1]
		inEscape := c == '\\' || c == 'u' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
		if !inEscape && utf8.RuneStart(b[n]) {
			return b[n:]
		}
	}
	return nil
}

const nearSpace = 1 << 10 // bytes that may be cut off in addition, to cut between words

// unfinished returns the incomplete escape, surrogate pair or character at the end of raw, nil if there is none.
func unfinished(raw []byte) []byte {
	i := max(0, len(raw)-len(`\u0000\u0000`))
	slashes := 0
	for slashes < i && raw[i-1-slashes] == '\\' {
		slashes++
	}
	for i -= slashes % 2; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		rest, size := raw[i:], len(`\n`)
		if len(rest) > 1 && rest[1] == 'u' {
			size = len(`\u0000`)
		}
		high := 0xd800 <= hex4(rest) && hex4(rest) < 0xdc00
		if size > len(rest) {
			return rest
		}
		second := rest[size:min(len(rest), size+len(`\u`))]
		if high && len(rest) < 2*size && bytes.HasPrefix([]byte(`\u`), second) {
			return rest
		}
		i += size - 1
	}
	return halfRune(raw)
}
