package frame

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

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

// halfEscape reports whether raw is the beginning of an escape and nothing else.
func halfEscape(raw []byte) bool {
	if len(raw) >= len(`\u0000`) || len(raw) > 1 && raw[1] != 'u' {
		return false
	}
	for _, c := range raw[min(2, len(raw)):] {
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}

// halfRune gives the beginning of a character that b ends with, nothing where b ends with a whole one.
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

// cutEnd takes off what cannot stand at a cut: the last word, or at least half an escape or half a character. A space
// is no part of either.
func cutEnd(b []byte) []byte {
	if n := bytes.LastIndexByte(b, ' '); n >= 0 && n > len(b)-nearSpace {
		return b[:n]
	}
	b = cutEscape(b, -1)
	for n := len(b) - 1; n >= 0 && n > len(b)-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) {
			if !utf8.FullRune(b[n:]) {
				b = b[:n]
			}
			break
		}
	}
	return b
}

// cutBeginning does so at the end of a cut. No escape goes on behind a byte that none can hold in its middle.
func cutBeginning(b []byte) []byte {
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

// cutEscape takes an escape that is not whole off the end of a string that begins at from.
func cutEscape(b []byte, from int) []byte {
	for i := from + 1; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		size := 2
		if i+1 < len(b) && b[i+1] == 'u' {
			size = 6
		}
		if i+size > len(b) {
			return b[:i]
		}
		i += size - 1
	}
	return b
}

const nearSpace = 1 << 10 // bytes that may be cut off besides, to cut between words
