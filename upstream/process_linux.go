package upstream

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// A child is the harness's process and the group that it leads.
type child struct{ pid int }

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
