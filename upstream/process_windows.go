package upstream

import (
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A child is the harness's process in a job: what it starts is in the job too, and the kernel ends them all when the
// job's handle is closed, by us or because we died.
type child struct {
	pid     int
	process *os.Process
	job     windows.Handle
	exit    Exit
}

// spawn starts the harness, and returns our ends of its stdin, stdout and stderr.
func spawn(path string, o Options) (c *child, ours [3]*pipe, err error) {
	var theirs []*os.File
	defer func() {
		for stream, f := range theirs {
			f.Close()
			if err != nil {
				ours[stream].Close()
			}
		}
	}()
	for stream := range ours {
		mine, their, err := os.Pipe()
		if err != nil {
			return nil, ours, err
		}
		if stream == 0 {
			mine, their = their, mine
		}
		ours[stream] = &pipe{File: mine, ended: make(chan struct{})}
		theirs = append(theirs, their)
	}
	job, err := newJob()
	if err != nil {
		return nil, ours, os.NewSyscallError("CreateJobObject", err)
	}
	process, err := os.StartProcess(path, o.Command, &os.ProcAttr{
		Dir:   o.Dir,
		Env:   environment(o.Env),
		Files: theirs,
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}, // Ctrl-C is the client's
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, ours, err
	}
	// Best effort: without the job the harness alone is killed.
	_ = process.WithHandle(func(handle uintptr) {
		_ = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	return &child{pid: process.Pid, process: process, job: job}, ours, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

func (c *child) await() {
	state, err := c.process.Wait()
	if err != nil {
		c.exit = Exit{Code: 1}
		return
	}
	c.exit = Exit{Code: state.ExitCode()}
}

func (c *child) reap() Exit {
	windows.CloseHandle(c.job)
	return c.exit
}

// signal can only kill: Windows has no TERM for a process without a window or our console.
func (c *child) signal(sig syscall.Signal) {
	if sig == syscall.SIGKILL {
		c.kill()
	}
}

func (c *child) kill() {
	_ = windows.TerminateJobObject(c.job, 1)
	_ = c.process.Kill()
}

// Windows needs no guard: the job does its work.
type guard struct{}

func newGuard(*child) guard { return guard{} }
func (guard) end()          {}

// A pipe is our end of one of the harness's pipes. Whoever holds the other end is killed with the job, so that no call
// has to be interrupted.
type pipe struct {
	*os.File
	ended chan struct{} // closed when nothing more will be read
	once  sync.Once     // closes ended
}

func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if err != nil {
		p.once.Do(func() { close(p.ended) })
	}
	return n, err
}

func (p *pipe) finish() {}

// Widen does nothing here: the size of a pipe cannot be changed.
func Widen(*os.File) {}
