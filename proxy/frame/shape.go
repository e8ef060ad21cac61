package frame

import (
	"bytes"
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

// Resume gives raw, which was cut out of the inside of a JSON string, from where reading can begin: behind a space
// nearby, so that no word is cut in two, else behind what may be half an escape or half a character.
func Resume(raw []byte) []byte { return cutBeginning(raw) }
