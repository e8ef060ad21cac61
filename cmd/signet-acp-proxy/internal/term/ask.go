package term

import (
	"bufio"
	"fmt"
	"strings"
)

// Interactive reports whether a person can be asked: stdin and stderr are a terminal.
func (s Streams) Interactive() bool { return s.In != nil && IsTerminal(s.In) && IsPerson(s.Err) }

// Ask asks a question to be answered by yes or no; anything but a clear yes is no.
func (s Streams) Ask(format string, args ...any) bool {
	fmt.Fprint(s.Err, "signet-acp-proxy: "+Visible(fmt.Sprintf(format, args...))+" [y/N] ")
	line, _ := bufio.NewReader(s.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
