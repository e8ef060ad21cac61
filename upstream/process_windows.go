package upstream

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
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

func spawn(path string, o Options) (c *child, stdin, stdout, stderr *pipe, err error) {
	var theirs []*os.File
	var ours []*pipe
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			for _, p := range ours {
				p.Close()
			}
		}
	}()
	for stream := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil, nil, nil, err
		}
		mine, their := r, w
		if stream == 0 {
			mine, their = w, r
		}
		theirs = append(theirs, their)
		ours = append(ours, &pipe{File: mine, ended: make(chan struct{})})
	}
	job, err := newJob()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	process, err := os.StartProcess(path, o.Command, &os.ProcAttr{
		Env:   o.Env,
		Files: theirs,
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, nil, nil, nil, err
	}
	// Best effort: without the job the harness alone is killed.
	_ = process.WithHandle(func(handle uintptr) {
		_ = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	return &child{pid: process.Pid, process: process, job: job}, ours[0], ours[1], ours[2], nil
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

// signal does nothing gentle: Windows has no TERM for a process without a window or our console.
func (c *child) signal(sig syscall.Signal) {
	if sig == syscall.SIGKILL {
		c.kill()
	}
}

func (c *child) kill() {
	_ = windows.TerminateJobObject(c.job, 1)
	_ = c.process.Kill()
}

// Windows needs no guard: the job is one.
type guard struct{}

func newGuard(*child) guard { return guard{} }
func (guard) end()          {}

// A pipe is our end of one of the harness's pipes. All others end with the job.
type pipe struct {
	*os.File
	ended    chan struct{} // closed at end of file
	finished atomic.Bool
}

func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if errors.Is(err, io.EOF) && !p.finished.Swap(true) {
		close(p.ended)
	}
	return n, err
}

func (p *pipe) finish() {}
