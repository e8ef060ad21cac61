package proxy

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	openWait        = 100 * time.Millisecond // for another program's lock, as the database is opened
	openRetry       = 250 * time.Millisecond // pause before a locked database is opened again
	learnAfter      = 300 * time.Millisecond // from the last turn's end until turns are learned from
	learnLimit      = 10 * time.Second       // for learning at one go; the rest is left for later, or another process
	closedLimit     = 10 * time.Second       // for the event that a session was closed to be folded in
	closeLearnLimit = 50 * time.Millisecond  // for learning at the end, when people wait for us to exit
	// how long the database is waited for once the client has gone, and again once the harness has: 300 ms in all
	goneLimit  = 100 * time.Millisecond
	closeLimit = 200 * time.Millisecond

	// Parts of what a prompt waits at most. For folding in what other processes have recorded, before memory is asked:
	// 100 ms of 1.5 s.
	foldShare = 15
	// And before a session counts as one that nobody knows: 500 ms of 1.5 s.
	takeInShare = 3
	// And what a frame from the harness waits for the database: 250 ms of 1.5 s.
	lookShare = 6
)

// A database opens the backend beside the conversation, and runs requests to it. Every request has a deadline of its
// caller's.
type database struct {
	*env

	opened  chan struct{}           // closed once backend is set, or opening has failed for good
	backend atomic.Pointer[Backend] // nil while it is being opened and when there is none
	running context.Context
	stop    context.CancelFunc // ends running

	learnable      chan struct{} // 1-buffered: turns have ended that may be learned from
	stopped        chan struct{}
	clientGoneOnce sync.Once
	endOnce        sync.Once
}

func newDatabase(e *env) *database {
	d := &database{
		env: e, opened: make(chan struct{}), learnable: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	d.running, d.stop = context.WithCancel(context.Background())
	return d
}

// run is the database's goroutine.
func (d *database) run() {
	defer close(d.stopped)
	d.open()
	learn := time.After(learnAfter) // what earlier processes left
	for {
		select {
		case <-d.learnable:
			learn = time.After(learnAfter)
		case <-learn:
			learn = nil
			if d.learnUntilMore() {
				learn = time.After(learnAfter)
			}
		case <-d.running.Done():
			return
		}
	}
}

// learnUntilMore learns until more was said: what is left then can wait for a silence. It reports whether there was
// more.
func (d *database) learnUntilMore() (more bool) {
	ctx, cancel := context.WithCancel(pace.Gently(d.ctx))
	defer cancel()
	learned := make(chan struct{})
	guard.Go("learner", func() {
		defer close(learned)
		d.learn(ctx, learnLimit)
	})
	select {
	case <-learned:
		return false
	case <-d.learnable:
		more = true
	case <-d.running.Done():
	}
	cancel()
	<-learned
	return more
}

// open opens the backend. A locked database is tried again until the conversation ends.
func (d *database) open() {
	defer close(d.opened)
	for {
		backend, err := d.o.Open(sqlite.WithLockWait(d.running, openWait))
		if err == nil {
			d.backend.Store(backend)
			return
		}
		if d.running.Err() != nil {
			return
		}
		if !errors.Is(err, sqlite.ErrBusy) {
			d.tell("no memory in this conversation: %v; its text waits in a file", err)
			d.o.Log.Error().Err(err).Msg("opening the database")
			return
		}
		d.o.Log.Info().Err(err).Msg("the database cannot be opened yet")
		select {
		case <-time.After(openRetry):
		case <-d.running.Done():
			return
		}
	}
}

// folded is called when events were written into the database (eventlog.Options.Folded).
func (d *database) folded(ended bool, gone []int) {
	if len(gone) > 0 {
		d.talk.Tell(func(c *session.Connection) { c.Forget(gone) })
	}
	if ended {
		select {
		case d.learnable <- struct{}{}:
		default:
		}
	}
}

// messages returns what other agents have sent to the session of a key.
func (d *database) messages(key string) []memory.Item {
	b := d.backend.Load()
	if b == nil || b.Messages == nil {
		return nil
	}
	return b.Messages(key)
}

// ready waits for the backend. It returns nil when there is none, or ctx has ended.
func (d *database) ready(ctx context.Context) *Backend {
	select {
	case <-d.opened:
	case <-ctx.Done():
	}
	return d.backend.Load()
}

var errNoLedger = errors.New("no database")

// begin has f run with the backend, once there is one, in a task of its own, and then ended with f's error, whatever
// becomes of f. It reports false if the relay is at its end: then neither runs.
func (d *database) begin(ctx context.Context, work string, f func(*Backend) error, ended func(error)) bool {
	return d.tasks.run(work, func() {
		ended(guard.Try(work, func() error {
			b := d.ready(ctx)
			if b == nil {
				return errNoLedger
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(b)
		}))
	})
}

// ask begins f, and waits for it. If ctx ends first it returns at once; then f is not begun, or runs on with a context
// that has ended: what f sets is to be read only if there is no error.
func (d *database) ask(ctx context.Context, f func(*Backend) error) error {
	result := make(chan error, 1)
	if !d.begin(ctx, "asking the ledger", f, func(err error) { result <- err }) {
		return errNoLedger
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// learn lets memory learn from the turns that have ended, for no longer than limit.
func (d *database) learn(ctx context.Context, limit time.Duration) {
	if b := d.backend.Load(); b != nil {
		within(ctx, "learning", limit, b.Learn)
	}
}

// within does work that others go on without, for no longer than limit; nil is none.
func within(ctx context.Context, work string, limit time.Duration, f func(context.Context)) {
	if f == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	guard.Run(work, func() { f(ctx) })
}

// deliverClosed has what closed sessions owe delivered, once their closing is folded in.
func (d *database) deliverClosed() {
	d.tasks.run("hand-over", func() {
		ctx, cancel := context.WithTimeout(d.ctx, closedLimit)
		defer cancel()
		if b := d.ready(ctx); b != nil && b.SessionClosed != nil && d.file.Folded(ctx) == nil {
			b.SessionClosed(ctx)
		}
	})
}

// clientGone records the end of the process and delivers what is owed. It is called once the client has gone (end is
// false) or we are told to end. While a turn is under way the end is recorded only with end set: otherwise the turn may
// still come to its own.
func (d *database) clientGone(end bool) {
	busy := false
	d.talk.Do(func(c *session.Connection) { busy = c.Busy() })
	if end = end || !busy; end {
		d.end()
	}
	b := d.backend.Load()
	if b == nil || b.ClientGone == nil {
		return
	}
	d.clientGoneOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), goneLimit)
		defer cancel()
		folded := d.file.Folded(ctx) == nil // otherwise the worker folds the end in
		b.ClientGone(end && folded)
	})
}

// end records the end of the process, once.
func (d *database) end() {
	d.endOnce.Do(func() { d.file.Append(correlation.ProcessEnded{Reason: "ended"}) })
}

// close folds in what it can within closeLimit and ends the log. A database that is still being opened is
// waited for as long: the conversation may have been short.
func (d *database) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	defer d.stop()
	d.end()
	b := d.ready(ctx)
	d.stop()
	select {
	case <-d.stopped:
	case <-ctx.Done():
	}
	if b != nil {
		folded := d.file.Folded(ctx) == nil
		if folded {
			d.learn(ctx, closeLearnLimit)
		}
		if b.ClientGone != nil {
			d.clientGoneOnce.Do(func() { b.ClientGone(folded) })
		}
	}
	unfolded, err := d.file.Close(ctx)
	if err != nil {
		d.o.Log.Error().Err(err).Msg("ending to record")
	}
	if unfolded {
		d.o.Log.Info().Msg("the database did not take all in time; the rest is in the event file")
	}
}
