//go:build unix

package upstream

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawn starts the harness, and returns our ends of its stdin, stdout and stderr.
func spawn(path string, o Options) (c *child, ours [3]*pipe, err error) {
	var theirs []uintptr
	defer func() {
		for stream, fd := range theirs {
			unix.Close(int(fd))
			if err != nil && stream < len(ours) {
				ours[stream].Close()
			}
		}
	}()
	for stream := range ours {
		fds, err := pipe2()
		if err != nil {
			return nil, ours, os.NewSyscallError("pipe", err)
		}
		mine, their := fds[0], fds[1]
		if stream == 0 {
			mine, their = their, mine
		}
		if ours[stream], err = newPipe(mine); err != nil {
			unix.Close(mine)
			unix.Close(their)
			return nil, ours, os.NewSyscallError("pipe", err)
		}
		theirs = append(theirs, uintptr(their))
		if stream < 2 {
			widen(mine)
		}
	}
	c = &child{}
	if o.OwnGuard {
		their := -1
		if their, err = c.makeOwnGuard(); err != nil {
			return nil, ours, err
		}
		theirs = append(theirs, uintptr(their))
		defer func() {
			if err != nil {
				unix.Close(c.guard.alive)
			}
		}()
	}
	attr := &syscall.ProcAttr{Dir: o.Dir, Env: environment(o.Env), Files: theirs, Sys: inOwnGroup()}
	if c.pid, err = fork(path, o, attr); err != nil {
		return nil, ours, err
	}
	return c, ours, nil
}

// fork starts the harness.
func fork(path string, o Options, attr *syscall.ProcAttr) (pid int, err error) {
	if o.Apart {
		attr.Sys = apart()
		if pid, err = syscall.ForkExec(path, o.Command, attr); err == nil {
			return pid, nil
		}
		attr.Sys = inOwnGroup()
	}
	pid, err = syscall.ForkExec(path, o.Command, attr)
	if err == syscall.ENOEXEC {
		// A script without #!. Shells and execvp, so all other clients, run it with sh.
		pid, err = syscall.ForkExec("/bin/sh", append([]string{"sh", path}, o.Command[1:]...), attr)
	}
	return pid, err
}

// signal and kill reach the whole group. They must not be used after reap: the number may be another group's then.
func (c *child) signal(sig syscall.Signal) { _ = unix.Kill(-c.pid, sig) }
func (c *child) kill()                     { c.signal(unix.SIGKILL) }
