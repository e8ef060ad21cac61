//go:build unix

package upstream

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// A guard kills the harness's group when we are killed: the kernel's parent-death signal is Linux's alone and reaches
// the harness itself only, which is often a launcher (npx, gemini) whose child goes on without it. Whoever kills us -9
// would have killed the harness -9. The guard is a shell that waits, as a member of the group, for its stdin to end,
// which also keeps the group's number from being given to somebody else. Without /bin/sh there is none.
type guard struct {
	pid   int
	alive int // write end of its stdin, -1: no guard
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

// end reaps the guard; the group was killed and the guard with it.
func (g *guard) end() {
	if g.alive < 0 {
		return
	}
	unix.Close(g.alive)
	collect(g.pid)
}
