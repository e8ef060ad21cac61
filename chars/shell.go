package chars

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// ShellWord quotes a word for a POSIX shell, where it needs that.
func ShellWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-^"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// exitCode is compiled when it is first used: most processes never do.
var exitCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[\s"\\])exit(?:ed with)?[ _]code\\?"?:? ?(-?\d{1,3})\b`)
})

const exitWithin = 300 // bytes of an output, at its beginning or end

// ExitCode returns the exit code that the output of a command names, as agents are shown it; nil for none.
func ExitCode(output string) *int {
	for _, part := range []string{Cut(output, exitWithin), output[Boundary(output, max(0, len(output)-exitWithin)):]} {
		if found := exitCode().FindStringSubmatch(part); found != nil {
			n, _ := strconv.Atoi(found[1])
			return &n
		}
	}
	return nil
}
