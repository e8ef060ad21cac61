package frame

import (
	"bytes"
	"unicode/utf8"
)

// A Shape is what the frames of one stream have in common: the bytes in front of the one text that differs, its
// opening quote included, and those from its closing quote to the end of the line. Agents stream an answer as
// thousands of frames of one shape, so that their texts can be taken without reading the frames. The zero Shape fits
// nothing.
type Shape struct{ head, tail []byte }

// maxShape bounds what is kept of a shape, on either side: a frame with more around its text has none.
const maxShape = 4 << 10

// Learn makes it the shape of line, a whole frame, around the string token at text. Without one it fits nothing.
func (s *Shape) Learn(line []byte, text Span) {
	s.head, s.tail = s.head[:0], s.tail[:0]
	if text.End-text.Start < 2 || line[text.Start] != '"' || text.Start >= maxShape || len(line)-text.End >= maxShape {
		return
	}
	s.head = append(s.head, line[:text.Start+1]...)
	s.tail = append(s.tail, line[text.End-1:]...)
}

// Forget makes it fit nothing.
func (s *Shape) Forget() { s.head, s.tail = s.head[:0], s.tail[:0] }

// Begins reports whether the frame that b begins with, or is, begins as its frames do. Then its text begins behind Head
// bytes, for equal beginnings are read alike.
func (s *Shape) Begins(b []byte) bool { return len(s.head) > 0 && bytes.HasPrefix(b, s.head) }

// Head is how many bytes stand before the text.
func (s *Shape) Head() int { return len(s.head) }

// Tail is what stands behind the text.
func (s *Shape) Tail() []byte { return s.tail }

// Text gives the text of a whole frame, as it came. ok is false where the frame is of another shape. Nothing is looked
// for between both ends, where more than the text may stand in an odd frame: Decode ends at the quote that closes it.
func (s *Shape) Text(line []byte) (raw []byte, ok bool) {
	if !s.Begins(line) || len(line) < len(s.head)+len(s.tail) || !bytes.HasSuffix(line, s.tail) {
		return nil, false
	}
	return line[len(s.head) : len(line)-len(s.tail)], true
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

// Resume gives raw, which was cut out of the inside of a JSON string, from where reading can begin: behind a space
// nearby, so that no word is cut in two, else behind what may be half an escape or half a character.
func Resume(raw []byte) []byte { return cutBeginning(raw) }
