package upstream

import "golang.org/x/sys/unix"

func pipe2() (fds [2]int, err error) {
	err = unix.Pipe2(fds[:], unix.O_CLOEXEC)
	return fds, err
}

// widen sets a pipe's size. Errors are ignored: an unprivileged user has a quota.
func widen(fd int) {
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize)
}
