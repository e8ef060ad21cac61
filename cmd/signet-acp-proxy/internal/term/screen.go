package term

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
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

// Page shows what write writes: for a person at a terminal through a pager ($PAGER, else less), otherwise as it is. A
// pager without a keyboard would wait for ever.
func Page(out io.Writer, write func(Screen) error) error {
	s := On(out)
	pager := strings.Fields(os.Getenv("PAGER"))
	if len(pager) == 0 {
		pager = []string{"less"}
	}
	path, err := exec.LookPath(pager[0])
	if !IsPerson(out) || !IsTerminal(os.Stdin) || err != nil || os.Getenv("TERM") == "dumb" {
		return write(s)
	}
	cmd := exec.Command(path, pager[1:]...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	cmd.Env = os.Environ()
	for name, value := range map[string]string{
		"LESS":        "FRX",   // it quits if all fits, shows colours, and leaves the screen as it is
		"LESSCHARSET": "utf-8", // also where no locale is set
	} {
		if os.Getenv(name) == "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return write(s)
	}
	if cmd.Start() != nil {
		return write(s)
	}
	s.W = in
	err = write(s)
	if errors.Is(err, syscall.EPIPE) { // the person has read enough
		err = nil
	}
	return errors.Join(err, in.Close(), cmd.Wait())
}
