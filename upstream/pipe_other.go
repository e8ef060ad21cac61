//go:build unix && !linux

package upstream

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func pipe2() (fds [2]int, err error) {
	syscall.ForkLock.RLock() // a child that is forked between the two calls would inherit the pipe
	defer syscall.ForkLock.RUnlock()
	if err = unix.Pipe(fds[:]); err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	return fds, err
}

func widen(int) {}
