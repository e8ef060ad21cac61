// Package term is how the program prints: on a terminal as wide as that is, elsewhere plainly, and for scripts as JSON.
// It does not decide what is said.
package term

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// Streams are those of a process. Out is the protocol, or what a command was asked for. Err is for people: lower case,
// after "signet-acp-proxy: ", one line, no period at the end.
type Streams struct {
	In       *os.File
	Out, Err io.Writer
}

// Say prints one line to Err.
func (s Streams) Say(format string, args ...any) {
	fmt.Fprintln(s.Err, program+": "+ToType(Visible(fmt.Sprintf(format, args...))))
}

// Line prints a line that is no format.
func (s Streams) Line(line string) { s.Say("%s", line) }

const program = "signet-acp-proxy"

// ToType writes our commands in a text as they can be typed: npx leaves no program of ours on PATH.
func ToType(text string) string {
	if os.Getenv("npm_command") != "exec" {
		return text
	}
	return strings.ReplaceAll(text, program+" ", "npx -y "+program+" ")
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// IsPerson reports whether a writer is a terminal, where a person reads.
func IsPerson(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && IsTerminal(f)
}

// JSON prints v for scripts, with control characters escaped.
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

// Interactive reports whether a person can be asked: stdin and stderr are a terminal.
func (s Streams) Interactive() bool { return s.In != nil && IsTerminal(s.In) && IsPerson(s.Err) }

// Ask asks a question to be answered by yes or no; anything but a clear yes is no.
func (s Streams) Ask(format string, args ...any) bool {
	fmt.Fprint(s.Err, "signet-acp-proxy: "+Visible(fmt.Sprintf(format, args...))+" [y/N] ")
	line, err := bufio.NewReader(s.In).ReadString('\n')
	if err != nil { // Ctrl-D leaves the cursor behind the question
		fmt.Fprintln(s.Err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
