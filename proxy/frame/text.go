package frame

import (
	"bytes"
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

// A Decoder decodes the inside of a JSON string that arrives in pieces, as AppendDecoded does.
type Decoder struct {
	held   []byte // may be half an escape or half a character
	closed bool
}

// Idle reports whether what was decoded is whole so far, and has not ended.
func (d *Decoder) Idle() bool { return len(d.held) == 0 && !d.closed }

// Append appends the text of the next piece, as far as it is whole. It keeps nothing of raw.
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

// End gives what is left.
func (d *Decoder) End() []byte {
	if d.closed {
		return nil
	}
	d.closed = true
	return AppendDecoded(nil, d.held)
}

// unfinished gives the escape, the pair of them or the character that raw ends within, nothing where it ends behind
// one.
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

// AppendDecoded appends to text what raw, the inside of a JSON string or the beginning of one, says, and gives it. What
// begins with a quote that is not escaped is no part of the string any more. An escape that is none becomes U+FFFD, and
// half a one or half a character at the end is left out.
func AppendDecoded(text, raw []byte) []byte {
	text, _ = appendDecoded(text, raw)
	return text
}

// appendDecoded is AppendDecoded that also reports whether a quote closed the string.
func appendDecoded(text, raw []byte) (_ []byte, closed bool) {
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		plain := raw
		if n >= 0 {
			plain = raw[:n]
		}
		if end := bytes.IndexByte(plain, '"'); end >= 0 {
			return append(text, plain[:end]...), true
		}
		if n < 0 {
			return append(text, plain[:len(plain)-len(halfRune(plain))]...), false
		}
		text = append(text, plain...)
		raw = raw[n:]
		r, size := escape(raw)
		switch {
		case size > 0:
		case halfEscape(raw): // it goes on where this was cut off
			return text, false
		default:
			r, size = utf8.RuneError, min(2, len(raw))
		}
		text = utf8.AppendRune(text, r)
		raw = raw[size:]
	}
	return text, false
}
