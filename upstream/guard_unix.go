//go:build unix

package upstream

import (
	"strconv"
	"strings"
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
	if c.guard != nil {
		return c.guard
	}
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

// end ends what is left of the group, or of all that a guard of its own watches, and reaps the guard.
func (g *guard) end() {
	if g.alive < 0 {
		return
	}
	if g.pid == 0 {
		g.endOwn()
		return
	}
	unix.Close(g.alive)
	collect(g.pid)
}

// endOwn reads the process id of a guard that the harness has started, which ends all it watches when we have nothing
// more to say.
func (g *guard) endOwn() {
	defer unix.Close(g.alive)
	_ = unix.SetsockoptTimeval(g.alive, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2})
	_ = unix.Shutdown(g.alive, unix.SHUT_WR)
	var said []byte
	for next := make([]byte, 32); ; {
		n, err := unix.Read(g.alive, next)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 || len(said) > len(next) {
			break
		}
		said = append(said, next[:n]...)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(said))); err == nil && pid > 0 {
		collect(pid)
	}
}
