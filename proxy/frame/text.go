package frame

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// String decodes a JSON string token, quotes included. Lone surrogates become U+FFFD; bytes that are no UTF-8 stay. ok
// is false when raw is anything but one valid token.
func String(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || stringEnd(raw, 1) != len(raw) {
		return "", false
	}
	decoded, ok := decode(raw[1 : len(raw)-1])
	return string(decoded), ok
}

// decode gives the text that stands between a token's quotes, as a copy where it has escapes; nil and false when one of
// them is wrong.
func decode(inner []byte) ([]byte, bool) {
	n := bytes.IndexByte(inner, '\\')
	if n < 0 {
		return inner, true
	}
	text := make([]byte, 0, len(inner))
	for n >= 0 {
		text = append(text, inner[:n]...)
		r, size := escape(inner[n:])
		if size == 0 {
			return nil, false
		}
		text = utf8.AppendRune(text, r)
		inner = inner[n+size:]
		n = bytes.IndexByte(inner, '\\')
	}
	return append(text, inner...), true
}

// escape decodes the escape that text begins with: one rune and its size in text, a surrogate pair taken as one. Size
// 0: there is no escape like it.
func escape(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case '"', '\\', '/':
		return rune(text[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r = hex4(text)
		if r < 0 {
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
	return 0, 0
}

// hex4 gives the number in the \uXXXX that text begins with, -1 when it does not.
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
