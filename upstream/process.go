// Package upstream starts and ends the harness: it knows harnesses by name, their command lines, and how their
// processes end.
//
//	profile, _ := upstream.Lookup("claude")
//	options := upstream.Options{Stderr: os.Stderr}
//	err := profile.Prepare(ctx, &options)
//	p, err := upstream.Start(options)
//	go relay(os.Stdin, p.Stdin) // then p.Hangup()
//	relay(p.Stdout, os.Stdout)  // to its end, which always comes
//	exit := p.Wait()
//
// It moves bytes and knows nothing of ACP. A program that starts harnesses must handle its signals with signal.Notify.
// Signals that it ignores with signal.Ignore would be ignored by the harness and its tools too.
package upstream

import (
	"cmp"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	defaultGrace     = 5 * time.Second // codex takes up to 4.7 s to leave by itself
	defaultKillAfter = time.Second     // acpx kills us 1.5 s after its SIGTERM
	defaultLinger    = 2 * time.Second // for processes that the harness leaves behind to write the rest

	// From a signal that is passed on until stdin is closed. A harness that waits for both in different threads ends by
	// whichever the kernel wakes first, so the signal needs a head start, also on a busy machine.
	headStart = 200 * time.Millisecond
)

// A Process is a running harness in a process group of its own.
//
// Stdin and Stdout are our ends of its pipes, for one writer and one reader; closing one ends a call that waits on it.
// Stdout returns io.EOF at the latest two seconds after the harness itself has ended, even if another process still
// holds the pipe, and never before everything that the harness wrote was read. Wait closes both.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	stdin  *pipe
	stdout *pipe
	stderr *tail

	child     *child
	grace     time.Duration
	minGrace  time.Duration
	killAfter time.Duration
	linger    time.Duration

	hangup      chan struct{}       // closed by Hangup
	signals     chan syscall.Signal // from Terminate
	waited      chan struct{}       // closed by Wait: nobody reads any more
	exited      chan struct{}       // closed when the harness has ended; it is not reaped yet
	groupKilled chan struct{}       // closed when the group was killed: the harness may be reaped
	reaped      chan struct{}       // closed when exit is set
	exit        Exit

	hangupOnce, waitOnce sync.Once
	goroutines           sync.WaitGroup // runChild and supervise
}

// Start starts the harness. The error is an ErrNotStarted. The caller must call Wait.
func Start(o Options) (*Process, error) {
	path, err := find(o.Command)
	if err != nil {
		return nil, err
	}
	p := &Process{
		grace:       cmp.Or(o.Grace, defaultGrace),
		minGrace:    o.MinGrace,
		killAfter:   cmp.Or(o.KillAfter, defaultKillAfter),
		linger:      cmp.Or(o.linger, defaultLinger),
		hangup:      make(chan struct{}),
		signals:     make(chan syscall.Signal),
		waited:      make(chan struct{}),
		exited:      make(chan struct{}),
		groupKilled: make(chan struct{}),
		reaped:      make(chan struct{}),
	}
	started := make(chan error)
	p.goroutines.Go(func() { p.runChild(path, o, started) })
	if err := <-started; err != nil {
		p.goroutines.Wait()
		return nil, notStarted(path, err)
	}
	p.Stdin, p.Stdout = p.stdin, p.stdout
	p.goroutines.Go(p.supervise)
	go p.stderr.copy() // joined by Wait
	return p, nil
}

// runChild starts the harness, waits for its end and reaps it, all on one thread: Linux sends the parent-death signal
// when the thread that has forked ends, and Go may end a thread at any time.
func (p *Process) runChild(path string, o Options, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	child, pipes, err := spawn(path, o)
	if err != nil {
		started <- err
		return
	}
	p.child, p.stdin, p.stdout = child, pipes[0], pipes[1]
	p.stderr = newTail(pipes[2], o.Stderr)
	started <- nil
	p.child.await()
	close(p.exited)
	<-p.groupKilled
	p.exit = p.child.reap()
	close(p.reaped)
}

// supervise ends the harness. It alone sends signals.
func (p *Process) supervise() {
	guard := newGuard(p.child)
	hangup := p.hangup
	var eof time.Time
	var term, kill, deaf <-chan time.Time
	pending := syscall.SIGTERM
	for running := true; running; {
		select {
		case <-p.exited:
			running = false
		case <-hangup:
			hangup = nil
			eof = time.Now()
			term = time.After(max(p.grace, p.minGrace))
		case sig := <-p.signals:
			if eof.IsZero() {
				eof = time.Now()
			}
			hangup, pending, term = nil, sig, nil
			if wait := time.Until(eof.Add(p.minGrace)); wait > 0 {
				term = time.After(wait)
				p.Hangup()
			} else {
				p.child.signal(sig)
				deaf = time.After(headStart)
			}
			if kill == nil {
				kill = time.After(p.killAfter)
			}
		case <-deaf:
			deaf = nil
			p.Hangup()
		case <-term:
			term = nil
			p.child.signal(pending)
			if kill == nil {
				kill = time.After(p.killAfter)
			}
		case <-kill:
			kill = nil
			p.child.kill()
		}
	}
	p.awaitRest(kill)
	p.child.kill()
	close(p.groupKilled)
	<-p.reaped
	guard.end()
	p.stdin.Close()
	p.stdout.finish()
	p.stderr.from.finish()
}

// awaitRest waits for what something that the harness has started still writes, for linger unless Wait or Terminate is
// called.
func (p *Process) awaitRest(kill <-chan time.Time) {
	select {
	case <-p.stdout.ended:
	case <-p.waited:
	case <-p.signals:
	case <-kill:
	case <-time.After(p.linger):
	}
}

// Hangup is for when the client has gone: it closes stdin. The group gets TERM after Grace, and KILL after another
// KillAfter. It returns at once and may be called again.
func (p *Process) Hangup() {
	p.hangupOnce.Do(func() {
		p.stdin.Close()
		close(p.hangup)
	})
}

// Terminate is for when we are told to end: the group gets sig at once, stdin is closed 200 ms later (the other way
// round with a MinGrace), and KILL follows after KillAfter. It may follow a Hangup. Called again it passes sig on, and
// delays nothing.
func (p *Process) Terminate(sig os.Signal) {
	number, ok := sig.(syscall.Signal)
	if !ok {
		number = syscall.SIGTERM
	}
	select {
	case p.signals <- number:
	case <-p.groupKilled:
	}
}

// Pid returns the harness's process id, which is also its group's.
func (p *Process) Pid() int { return p.child.pid }

// Wait waits for the harness to end (it does not make it end), kills what is left of its group, joins all goroutines
// and closes all descriptors. Call it after Stdout was read to its end, or when nobody is going to. If a Write to
// Options.Stderr does not return, Wait gives up on it after two seconds.
func (p *Process) Wait() Exit {
	p.waitOnce.Do(func() {
		close(p.waited)
		p.goroutines.Wait()
		p.stdout.Close()
		select {
		case <-p.stderr.done:
		case <-time.After(p.linger):
		}
	})
	return p.exit
}

// LastStderr returns the last lines that the harness wrote to its stderr, oldest first, without terminal control
// sequences. They are complete after Wait.
func (p *Process) LastStderr() []string { return p.stderr.lines() }
