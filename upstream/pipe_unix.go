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

const pipeSize = 1 << 20 // a whole large prompt

// A pipe is our end of one of the harness's pipes. Waiting is done in poll(2) on the calling thread: Go's own poller
// makes a large prompt ten times slower, and a plain blocking call could not be called off when something that
// outlives the harness holds the other end.
type pipe struct {
	ended chan struct{} // closed when nothing more will be read

	fd       int
	use      sync.Mutex // held while fd is in use
	off      [2]int     // a pipe whose write end is closed to call off who waits
	once     sync.Once  // closes off[1]
	closed   atomic.Bool
	finished atomic.Bool // what is in the pipe is all that counts
	rest     int         // bytes that may still be read once finished
}

// newPipe takes over fd where it gives no error.
func newPipe(fd int) (*pipe, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	off, err := pipe2()
	if err != nil {
		return nil, err
	}
	return &pipe{fd: fd, off: off, ended: make(chan struct{}), rest: pipeSize}, nil
}

func (p *pipe) Read(b []byte) (int, error) {
	p.use.Lock()
	defer p.use.Unlock()
	for {
		if p.closed.Load() {
			return 0, os.ErrClosed
		}
		finished := p.finished.Load()
		if finished && p.rest <= 0 {
			p.end() // somebody writes without end
			return 0, io.EOF
		}
		n, err := syscall.Read(p.fd, b)
		switch {
		case n > 0:
			if finished {
				p.rest -= n
			}
			return n, nil
		case err == nil && len(b) == 0:
			return 0, nil
		case err == nil, finished && err == syscall.EAGAIN:
			p.end()
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

// wait returns when fd can be used, or was called off.
func (p *pipe) wait(events int16) error {
	fds := [2]unix.PollFd{{Fd: int32(p.fd), Events: events}, {Fd: int32(p.off[0])}}
	_, err := unix.Poll(fds[:], -1)
	if err == syscall.EAGAIN {
		return nil // darwin, short of memory for a moment
	}
	return err
}

// finish makes the reader see the end of file once it has read what is in the pipe now.
func (p *pipe) finish() {
	p.finished.Store(true)
	p.callOff()
}

// Close calls off a waiting Read or Write and closes our end.
func (p *pipe) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	p.callOff()
	p.use.Lock()
	defer p.use.Unlock()
	p.end()
	unix.Close(p.off[0])
	return os.NewSyscallError("close", unix.Close(p.fd))
}

func (p *pipe) callOff() { p.once.Do(func() { unix.Close(p.off[1]) }) }

// end runs with use held.
func (p *pipe) end() {
	select {
	case <-p.ended:
	default:
		close(p.ended)
	}
}

// Widen makes the pipe behind one of our own standard streams as wide as the harness's, and its calls blocking: both
// were measured to be worth a multiple for large frames. What is no pipe is left alone.
func Widen(f *os.File) { widen(int(f.Fd()), pipeSize) }
