package chars

import (
	"fmt"
	"unicode/utf8"
)

// An Excerpt is the beginning and the end of a text that comes in pieces: of one that is no longer than MaxHead and
// MaxTail all of it, of any other one the first MaxHead and the last MaxTail bytes, cut between characters.
type Excerpt struct {
	MaxHead, MaxTail int
	Head, Tail       []byte
	Omitted          int // bytes between them
}

// Add takes the text's next piece.
func (e *Excerpt) Add(piece []byte) {
	if len(e.Tail) == 0 && e.Omitted == 0 {
		n := Boundary(piece, e.MaxHead-len(e.Head))
		e.Head, piece = append(e.Head, piece[:n]...), piece[n:]
	}
	if over := len(piece) - e.MaxTail - 1; over > 0 { // so that a huge piece is not copied
		e.Skip(over)
		piece = piece[over:]
	}
	e.Tail = append(e.Tail, piece...)
	if over := len(e.Tail) - e.MaxTail; over > 0 {
		for over < len(e.Tail) && !utf8.RuneStart(e.Tail[over]) {
			over++
		}
		e.Omitted += over
		e.Tail = append(e.Tail[:0], e.Tail[over:]...)
	}
}

// Skip says that the text's next bytes are missing. What is before them is no part of the end.
func (e *Excerpt) Skip(bytes int) {
	if bytes > 0 {
		e.Omitted += len(e.Tail) + bytes
		e.Tail = e.Tail[:0]
	}
}

// Write implements io.Writer by Add.
func (e *Excerpt) Write(piece []byte) (int, error) {
	e.Add(piece)
	return len(piece), nil
}

// String is what was kept, with the mark of Omission between its two parts.
func (e *Excerpt) String() string { return string(e.Head) + Omission(e.Omitted) + string(e.Tail) }

// Ends keeps the beginning and the end of a text, most bytes in all.
func Ends(text string, most int) string {
	e := Excerpt{MaxHead: most / 2, MaxTail: most / 2}
	e.Add([]byte(text))
	if e.Omitted == 0 {
		return text
	}
	return string(e.Head) + "\n" + string(e.Tail)
}

// Omission is the mark where so many bytes were left out; "" if none were.
func Omission(bytes int) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("\n[%d bytes left out …]\n", bytes)
}

// Size is how many bytes are kept.
func (e *Excerpt) Size() int { return len(e.Head) + len(e.Tail) }
