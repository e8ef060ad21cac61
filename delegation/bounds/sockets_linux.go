package bounds

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Sockets returns the Unix sockets on which programs listen and that we, and with us a child without bounds, can
// connect to. Abstract ones begin with @.
func Sockets() []string {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	return listening(string(text), func(path string) bool { return unix.Access(path, unix.W_OK) == nil })
}

// listening returns the sockets of a list as the kernel writes it, those in the file system where they can be reached.
func listening(list string, reached func(path string) bool) []string {
	const accepting = "00010000" // __SO_ACCEPTCON
	var all []string
	for line := range strings.Lines(list) {
		fields := strings.Fields(line) // Num RefCount Protocol Flags Type St Inode Path
		if len(fields) < 8 || fields[3] != accepting {
			continue
		}
		path := strings.Join(fields[7:], " ")
		if strings.HasPrefix(path, "@") || reached(path) {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
