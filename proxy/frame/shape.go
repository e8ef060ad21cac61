package frame

import "bytes"

// A Shape is what the frames of one stream have in common: the bytes in front of the one text that differs, its opening
// quote included, and those from its closing quote to the end of the line. Agents stream an answer as thousands of
// frames of one shape, so their texts can be taken without parsing the frames. The zero Shape matches nothing.
type Shape struct{ Head, Tail []byte }

// maxShape is how many bytes there may be on either side of a shape's text.
const maxShape = 4 << 10

// Learn sets the shape to that of line, a whole frame, around the string token at text. If there is none, or too much
// around it, the shape matches nothing.
func (s *Shape) Learn(line []byte, text Span) {
	s.Head, s.Tail = s.Head[:0], s.Tail[:0]
	if text.End-text.Start < 2 || line[text.Start] != '"' || text.Start >= maxShape || len(line)-text.End >= maxShape {
		return
	}
	s.Head = append(s.Head, line[:text.Start+1]...)
	s.Tail = append(s.Tail, line[text.End-1:]...)
}

// Begins reports whether a frame, of which b is the beginning or all, begins as the shape's frames do. Its text then
// begins after Head.
func (s *Shape) Begins(b []byte) bool { return len(s.Head) > 0 && bytes.HasPrefix(b, s.Head) }

// Text returns the text of a whole frame, escaped as it came. ok is false if the frame is of another shape. What is
// between both ends is not checked: in an odd frame it may be more than the text, and AppendDecoded ends at the quote
// that closes that.
func (s *Shape) Text(line []byte) (raw []byte, ok bool) {
	if !s.Begins(line) || len(line) < len(s.Head)+len(s.Tail) || !bytes.HasSuffix(line, s.Tail) {
		return nil, false
	}
	return line[len(s.Head) : len(line)-len(s.Tail)], true
}
