// Package upstream is the harness: the names that people know it by, its command line, its process and the end of it.
//
//	profile, _ := upstream.Lookup("claude")
//	options := upstream.Options{Stderr: os.Stderr}
//	err := profile.Prepare(ctx, &options)
//	p, err := upstream.Start(options)
//	go relay(os.Stdin, p.Stdin) // then p.Hangup()
//	relay(p.Stdout, os.Stdout)  // to its end, which always comes
//	exit := p.Wait()
//
// It moves bytes and knows nothing of ACP. A program that starts harnesses must take its signals with signal.Notify:
// one that it has told the kernel to ignore (signal.Ignore) the harness and its tools would ignore too.
package upstream

import (
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
	defaultLinger    = 2 * time.Second // for what the harness leaves behind to finish speaking

	// From a signal that we are told to pass on to the end of stdin. A harness that waits for either in threads of its
	// own ends by whichever the kernel wakes first, so the signal needs a head start, also on a busy machine.
	headStart = 200 * time.Millisecond
)

// A Process is a running harness, in a process group of its own.
//
// Stdin and Stdout are our ends of its pipes, for one writer and one reader; closing one ends a call that waits on it.
// Stdout reads io.EOF two seconds after the harness itself has ended at the latest, whoever else still holds the pipe,
// and never before everything that the harness wrote was read. Wait closes both.
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

	hangup  chan struct{}       // closed: the client is gone
	told    chan syscall.Signal // somebody wants the end sooner
	givenUp chan struct{}       // closed: Wait was called, nobody reads on
	exited  chan struct{}       // closed: the harness has ended, its process id is still ours
	doomed  chan struct{}       // closed: the group was killed, the process id may go
	reaped  chan struct{}       // closed: exit is set
	exit    Exit

	hangupOnce, waitOnce sync.Once
	goroutines           sync.WaitGroup // lead and supervise
}

// Start starts the harness. The error is an ErrNotStarted. Every Process that Start gives must be waited for.
func Start(o Options) (*Process, error) {
	path, err := find(o.Command)
	if err != nil {
		return nil, err
	}
	p := &Process{
		grace:     orDefault(o.Grace, defaultGrace),
		minGrace:  o.MinGrace,
		killAfter: orDefault(o.KillAfter, defaultKillAfter),
		linger:    orDefault(o.linger, defaultLinger),
		hangup:    make(chan struct{}),
		told:      make(chan syscall.Signal),
		givenUp:   make(chan struct{}),
		exited:    make(chan struct{}),
		doomed:    make(chan struct{}),
		reaped:    make(chan struct{}),
	}
	started := make(chan error)
	p.goroutines.Go(func() { p.lead(path, o, started) })
	if err := <-started; err != nil {
		p.goroutines.Wait()
		return nil, notStarted(path, err)
	}
	p.Stdin, p.Stdout = p.stdin, p.stdout
	p.goroutines.Go(p.supervise)
	go p.stderr.copy() // Wait joins it
	return p, nil
}

// lead starts the harness, waits for its end and reaps it. All of it on one thread: Linux sends the parent-death signal
// when the thread that forked ends, which for other threads of ours can be at any time.
func (p *Process) lead(path string, o Options, started chan<- error) {
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
	<-p.doomed
	p.exit = p.child.reap()
	close(p.reaped)
}

// supervise carries out the end: it alone sends signals.
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
		case sig := <-p.told:
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
	// Something that the harness started may hold the pipes and still have a word to say, if nobody is in a hurry.
	select {
	case <-p.stdout.ended:
	case <-p.givenUp:
	case <-p.told:
	case <-kill:
	case <-time.After(p.linger):
	}
	p.child.kill()
	close(p.doomed)
	<-p.reaped
	guard.end()
	p.stdin.Close()
	p.stdout.finish()
	p.stderr.from.finish()
}

// Hangup says that the client is gone: stdin is closed, the group gets TERM after Grace and KILL after KillAfter.
func (p *Process) Hangup() {
	p.hangupOnce.Do(func() {
		p.stdin.Close()
		close(p.hangup)
	})
}

// Terminate says that we are told to end: sig goes to the group at once and a little later stdin is closed (the other
// way round with a MinGrace), and KILL after KillAfter. It hurries a Hangup; further signals are passed on as they come
// and put off nothing.
func (p *Process) Terminate(sig os.Signal) {
	number, ok := sig.(syscall.Signal)
	if !ok {
		number = syscall.SIGTERM
	}
	select {
	case p.told <- number:
	case <-p.doomed:
	}
}

// Exited is closed once the harness itself has ended; Stdout may hold what it still said.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Pid returns the harness's process id, which is also its group's.
func (p *Process) Pid() int { return p.child.pid }

// Wait waits for the harness to end (it does not make it end), kills what is left of its group, joins every goroutine
// and gives up every descriptor. Call it after Stdout was read to its end, or when nobody is going to. The one thing it
// does not wait for longer than two seconds is Options.Stderr, should a Write to it not return.
func (p *Process) Wait() Exit {
	p.waitOnce.Do(func() {
		close(p.givenUp)
		p.goroutines.Wait()
		p.stdout.Close()
		select {
		case <-p.stderr.done:
		case <-time.After(p.linger):
		}
	})
	return p.exit
}

// LastStderr returns the last lines that the harness wrote to its stderr, oldest first, without terminal control. They
// are complete after Wait.
func (p *Process) LastStderr() []string { return p.stderr.lines() }

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
