package term

import (
	"bufio"
	"fmt"
	"strings"
)

// Talks reports whether a person can be asked: somebody types and reads along.
func (s Streams) Talks() bool { return s.In != nil && IsTerminal(s.In) && IsPerson(s.Err) }

// Ask puts a question that is answered by yes or no. What is not clearly yes is no.
func (s Streams) Ask(format string, args ...any) bool {
	fmt.Fprintf(s.Err, "signet-acp-proxy: "+format+" [y/N] ", args...)
	line, _ := bufio.NewReader(s.In).ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
