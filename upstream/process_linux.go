package upstream

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A child is the harness's process and the group that it leads.
type child struct {
	pid   int
	guard *guard // its own; nil: it gets one of ours
}

// inOwnGroup makes the harness lead a process group, and has the kernel kill it if we are killed.
func inOwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// await returns when the harness has ended, and does not reap it, so that the group's number cannot be reused.
func (c *child) await() {
	for unix.Waitid(unix.P_PID, c.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func (c *child) reap() Exit { return collect(c.pid) }

// makeOwnGuard prepares for a guard that the harness starts, and gives the harness's end of the socket to it.
func (c *child) makeOwnGuard() (their int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socketpair", err)
	}
	c.guard = &guard{alive: fds[0]}
	return fds[1], nil
}
