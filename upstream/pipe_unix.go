//go:build unix

package upstream

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

const pipeSize = 1 << 20 // bytes: a whole large prompt

// A pipe is our end of one of the harness's pipes. It waits in poll(2) on the calling thread: Go's own poller makes a
// large prompt ten times slower, and a plain blocking call could not be interrupted when something that outlives the
// harness holds the other end.
type pipe struct {
	ended chan struct{} // closed when nothing more will be read

	fd       int
	use      sync.Mutex // held while fd is in use
	wake     [2]int     // a pipe whose write end is closed to interrupt poll
	once     sync.Once  // closes wake[1]
	closed   atomic.Bool
	finished atomic.Bool // only what is in the pipe now is still read
	leftover int         // bytes that may still be read once finished
}

// newPipe takes over fd, unless it returns an error.
func newPipe(fd int) (*pipe, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	off, err := pipe2()
	if err != nil {
		return nil, err
	}
	return &pipe{fd: fd, wake: off, ended: make(chan struct{}), leftover: pipeSize}, nil
}

func (p *pipe) Read(b []byte) (int, error) {
	p.use.Lock()
	defer p.use.Unlock()
	for {
		if p.closed.Load() {
			return 0, os.ErrClosed
		}
		finished := p.finished.Load()
		if finished && p.leftover <= 0 { // another process goes on writing
			return 0, io.EOF
		}
		n, err := syscall.Read(p.fd, b)
		switch {
		case n > 0:
			if finished {
				p.leftover -= n
			}
			return n, nil
		case err == nil && len(b) == 0:
			return 0, nil
		case err == nil, finished && err == syscall.EAGAIN:
			p.endLocked()
			return 0, io.EOF
		case err == syscall.EAGAIN:
			err = p.wait(unix.POLLIN)
		}
		if err != nil && err != syscall.EINTR {
			return 0, os.NewSyscallError("read", err)
		}
	}
}

func (p *pipe) Write(b []byte) (int, error) {
	p.use.Lock()
	defer p.use.Unlock()
	var done int
	for done < len(b) {
		if p.closed.Load() {
			return done, os.ErrClosed
		}
		n, err := syscall.Write(p.fd, b[done:])
		if n > 0 {
			done += n
		}
		if err == syscall.EAGAIN {
			err = p.wait(unix.POLLOUT)
		}
		if err != nil && err != syscall.EINTR {
			return done, os.NewSyscallError("write", err)
		}
	}
	return done, nil
}

// wait returns when fd is ready, or the wait was interrupted.
func (p *pipe) wait(events int16) error {
	fds := [2]unix.PollFd{{Fd: int32(p.fd), Events: events}, {Fd: int32(p.wake[0])}}
	_, err := unix.Poll(fds[:], -1)
	if err == syscall.EAGAIN {
		return nil // darwin, short of memory for a moment
	}
	return err
}

// finish makes the reader get io.EOF once it has read what is in the pipe now.
func (p *pipe) finish() {
	p.finished.Store(true)
	p.interrupt()
}

// Close interrupts a waiting Read or Write and closes our end.
func (p *pipe) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	p.interrupt()
	p.use.Lock()
	defer p.use.Unlock()
	p.endLocked()
	unix.Close(p.wake[0])
	return os.NewSyscallError("close", unix.Close(p.fd))
}

func (p *pipe) interrupt() { p.once.Do(func() { unix.Close(p.wake[1]) }) }

// endLocked notes that nothing more will be read.
func (p *pipe) endLocked() {
	select {
	case <-p.ended:
	default:
		close(p.ended)
	}
}

// Widen returns the pipe behind one of our own standard streams the size of the harness's, and makes reads and writes
// block: each speeds up large frames several times. It does nothing to what is no pipe.
func Widen(f *os.File) { widen(int(f.Fd())) }
