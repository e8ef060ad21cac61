package frame

import (
	"bytes"
	"unicode/utf8"
)

// String decodes a JSON string token, quotes included. Lone surrogates become U+FFFD; bytes that are not UTF-8 stay. ok
// is false when raw is anything but one valid token.
func String(raw []byte) (text string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' || stringEnd(raw, 1) != len(raw) {
		return "", false
	}
	return string(decode(raw[1 : len(raw)-1])), true
}

// decode decodes what is between a token's quotes. The result is inner itself if there are no escapes, and nil if one
// is not valid.
func decode(inner []byte) []byte {
	n := bytes.IndexByte(inner, '\\')
	if n < 0 {
		return inner
	}
	text := make([]byte, 0, len(inner))
	for n >= 0 {
		text = append(text, inner[:n]...)
		r, size := escape(inner[n:])
		if size == 0 {
			return nil
		}
		text = utf8.AppendRune(text, r)
		inner = inner[n+size:]
		n = bytes.IndexByte(inner, '\\')
	}
	return append(text, inner...)
}

// A Decoder decodes the inside of a JSON string that arrives in pieces, as AppendDecoded does.
type Decoder struct {
	held   []byte // the end of the last piece: half an escape or half a character
	closed bool   // a quote has ended the string
}

// Idle reports whether the last piece ended between two characters, and the string goes on.
func (d *Decoder) Idle() bool { return len(d.held) == 0 && !d.closed }

// Append decodes the next piece and appends its text, as far as that is complete. It does not keep raw.
func (d *Decoder) Append(text, raw []byte) []byte {
	if d.closed {
		return text
	}
	if len(d.held) > 0 {
		raw = append(d.held, raw...)
	}
	n := len(raw) - len(unfinished(raw))
	text, d.closed = appendDecoded(text, raw[:n])
	d.held = append([]byte(nil), raw[n:]...)
	return text
}

// End returns the text of what was not complete. The string has ended.
func (d *Decoder) End() []byte {
	if d.closed {
		return nil
	}
	d.closed = true
	return AppendDecoded(nil, d.held)
}

// AppendDecoded decodes raw, the inside of a JSON string or its beginning, and appends its text. A quote that is not
// escaped ends the string: what follows is passed over. An escape that is not valid becomes U+FFFD, and half an escape
// or half a character at the end is left out.
func AppendDecoded(text, raw []byte) []byte {
	text, _ = appendDecoded(text, raw)
	return text
}

// appendDecoded is AppendDecoded that also reports whether a quote closed the string.
func appendDecoded(text, raw []byte) (_ []byte, closed bool) {
	for len(raw) > 0 {
		n := plainSize(raw)
		if n == len(raw) {
			return append(text, raw[:n-len(halfRune(raw))]...), false
		}
		text, raw = append(text, raw[:n]...), raw[n:]
		if raw[0] == '"' {
			return text, true
		}
		if len(raw) > 1 && shortEscapes[raw[1]] != 0 {
			text, raw = append(text, shortEscapes[raw[1]]), raw[2:]
			continue
		}
		r, size := escape(raw)
		switch {
		case size > 0:
		case len(unfinished(raw)) == len(raw): // raw was cut off in it
			return text, false
		default:
			r, size = utf8.RuneError, min(2, len(raw))
		}
		text = utf8.AppendRune(text, r)
		raw = raw[size:]
	}
	return text, false
}

// plainSize is how many bytes raw has in front of the first escape or quote. Where these are frequent, as in code,
// looking at one byte after the other is quickest.
func plainSize(raw []byte) int {
	const near = 16
	for i, c := range raw[:min(near, len(raw))] {
		if c == '\\' || c == '"' {
			return i
		}
	}
	n := bytes.IndexByte(raw, '\\')
	if n < 0 {
		n = len(raw)
	}
	if quote := bytes.IndexByte(raw[:n], '"'); quote >= 0 {
		return quote
	}
	return n
}
