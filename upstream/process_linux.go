package upstream

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// A child is the harness's process and the group that it leads.
type child struct{ pid int }

// inOwnGroup makes the harness lead a group, and has the kernel kill it should we be killed.
func inOwnGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// await returns when the harness has ended and leaves it unreaped, so that the group's number stays its own.
func (c *child) await() {
	for unix.Waitid(unix.P_PID, c.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func (c *child) reap() Exit { return collect(c.pid) }
