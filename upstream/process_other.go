//go:build unix && !linux

package upstream

import (
	"errors"
	"syscall"
)

// A child is the harness's process and the group that it leads.
type child struct {
	pid   int
	guard *guard
	exit  Exit // set by await
}

// inOwnGroup makes the harness lead a process group. If we are killed, the guard kills it.
func inOwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func apart() *syscall.SysProcAttr { return inOwnGroup() }

// await reaps at once, because waiting without reaping is unreliable on darwin. As long as the guard lives the group's
// number cannot be reused.
func (c *child) await() { c.exit = collect(c.pid) }

func (c *child) reap() Exit { return c.exit }

func (c *child) makeOwnGuard() (their int, err error) {
	return -1, errors.New("a guard of its own is for Linux only")
}
