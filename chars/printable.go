package chars

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable makes foreign text one line that a terminal shows and does not act on: white space becomes a space, control
// characters (C0, DEL and C1), those that turn the direction of writing and others that cannot be seen go, and bytes
// that are not UTF-8 become U+FFFD.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case acted(r):
			return -1
		}
		return r
	}, strings.TrimSpace(text))
}

// acted reports whether a terminal acts on r, or shows nothing for it.
func acted(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// EscapeJSON escapes in JSON what Printable takes out of text and encoding/json leaves. It stays the same JSON: such
// characters stand in strings only.
func EscapeJSON(text []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r >= 0x7f && acted(r) {
			out = append(out, text[done:i]...)
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}
