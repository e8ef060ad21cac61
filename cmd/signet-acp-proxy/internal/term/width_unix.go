//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// columnsOf returns the columns of a terminal, 0 where it does not say.
func columnsOf(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
