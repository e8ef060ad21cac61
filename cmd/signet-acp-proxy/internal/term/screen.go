package term

import (
	"io"
	"os"
)

// A Screen is where a command prints its answer: nothing is cut or coloured unless it is a terminal.
type Screen struct {
	W      io.Writer
	Width  int // columns; 0: no limit
	Colour bool
}

// On returns the screen of a writer.
func On(w io.Writer) Screen {
	s := Screen{W: w}
	if f, ok := w.(*os.File); ok && IsTerminal(f) {
		s.Width = columnsOf(f)
		s.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return s
}

// Attributes of text (ECMA-48).
const (
	Bold   = "1"
	Faint  = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
)

// Paint gives text an attribute where the screen has colours.
func (s Screen) Paint(attribute, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + attribute + "m" + text + "\x1b[0m"
}
