// Package term is how the program speaks to people: on a terminal as wide as
// that is, elsewhere plainly, and for scripts in JSON. It decides nothing about what is said.
package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// Streams are a process's own. Out is the protocol, or what a command was
// asked for. Everything else is for people: Err, lower case, after
// "signet-acp-proxy: ", one line, no period at the end.
type Streams struct {
	In       *os.File
	Out, Err io.Writer
}

// Say tells a person one line.
func (s Streams) Say(format string, args ...any) {
	fmt.Fprintln(s.Err, "signet-acp-proxy: "+Visible(fmt.Sprintf(format, args...)))
}

// IsTerminal reports whether a person types into f.
func IsTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// IsPerson reports whether somebody reads along.
func IsPerson(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && IsTerminal(f)
}

// JSON prints v for scripts. What a terminal would act on is escaped.
func JSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(chars.EscapeJSON(b.Bytes()))
	return err
}
