//go:build unix

package upstream

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// A guard kills the harness's process group when we are killed with kill -9, as the harness would have been without us.
// The kernel's parent-death signal is not enough: only Linux has it, and it reaches only the harness itself, which is
// often a launcher (npx, gemini) whose child would go on. The guard is a shell in the group that waits for its stdin, a
// pipe from us, to end. As long as it lives the group's number cannot be reused. Without /bin/sh there is no guard.
type guard struct {
	pid   int
	alive int // write end of its stdin; -1: there is no guard
}

const guardScript = `trap '' HUP INT QUIT TERM PIPE; read _; kill -KILL 0`

func newGuard(c *child) *guard {
	g := &guard{alive: -1}
	stdin, err := pipe2()
	if err != nil {
		return g
	}
	defer unix.Close(stdin[0])
	none, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(stdin[1])
		return g
	}
	defer unix.Close(none)
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", guardScript}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []uintptr{uintptr(stdin[0]), uintptr(none), uintptr(none)},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pgid: c.pid},
	})
	if err != nil {
		unix.Close(stdin[1])
		return g
	}
	g.pid, g.alive = pid, stdin[1]
	return g
}

// end reaps the guard, which was killed with the group.
func (g *guard) end() {
	if g.alive < 0 {
		return
	}
	unix.Close(g.alive)
	collect(g.pid)
}
