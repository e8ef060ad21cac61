//go:build unix

package upstream

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A child is the harness's process and the group that it leads.
type child struct {
	pid  int
	exit Exit // where await reaps
}

// spawn starts the harness and gives our ends of its pipes.
func spawn(path string, o Options) (c *child, stdin, stdout, stderr *pipe, err error) {
	var theirs []uintptr
	var ours []*pipe
	defer func() {
		for _, fd := range theirs {
			unix.Close(int(fd))
		}
		if err != nil {
			for _, p := range ours {
				p.Close()
			}
		}
	}()
	for stream := range 3 {
		fds, err := pipe2()
		if err != nil {
			return nil, nil, nil, nil, os.NewSyscallError("pipe", err)
		}
		mine, their := fds[0], fds[1]
		if stream == 0 {
			mine, their = their, mine
		}
		if stream < 2 {
			widen(mine)
		}
		theirs = append(theirs, uintptr(their))
		p, err := newPipe(mine)
		if err != nil {
			unix.Close(mine)
			return nil, nil, nil, nil, os.NewSyscallError("pipe", err)
		}
		ours = append(ours, p)
	}
	attr := &syscall.ProcAttr{Env: o.Env, Files: theirs, Sys: inOwnGroup()}
	if attr.Env == nil {
		attr.Env = os.Environ()
	}
	pid, err := syscall.ForkExec(path, o.Command, attr)
	if errors.Is(err, syscall.ENOEXEC) {
		// A script without #!. Shells and execvp, so every other client, give it to sh.
		pid, err = syscall.ForkExec("/bin/sh", append([]string{"sh", path}, o.Command[1:]...), attr)
	}
	if err != nil {
		return nil, nil, nil, nil, err
	}
	return &child{pid: pid}, ours[0], ours[1], ours[2], nil
}

// signal and kill reach the whole group. They are for use before reap: until then the number cannot be another's.
func (c *child) signal(sig syscall.Signal) { _ = unix.Kill(-c.pid, sig) }
func (c *child) kill()                     { c.signal(unix.SIGKILL) }

func exitOf(status unix.WaitStatus) Exit {
	if status.Signaled() {
		return Exit{Signal: status.Signal()}
	}
	return Exit{Code: status.ExitStatus()}
}

// collect reaps the process and says how it ended.
func collect(pid int) Exit {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, 0, nil)
		switch {
		case err == nil:
			return exitOf(status)
		case err != unix.EINTR:
			return Exit{Code: 1} // somebody reaped it for us
		}
	}
}
