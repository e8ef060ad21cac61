package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

const (
	openAgain  = 250 * time.Millisecond // after the database was locked at the start
	learnAfter = 300 * time.Millisecond // how long after the last turn's end turns are learned from
	learnLimit = 10 * time.Second       // at a time; what is left is learned later, by whoever runs then
	leftLimit  = 10 * time.Second       // for the ledger to have heard that a session was closed
	lastLearn  = 50 * time.Millisecond  // at the end, when people wait for us to go
	// for the database at the end, 300 ms in all: when the client has gone, and when the harness has
	overLimit  = 100 * time.Millisecond
	lastChance = 200 * time.Millisecond
	// for what other processes have written down, where somebody needs to know of it
	catchUpLimit = 500 * time.Millisecond
)

// A database opens the backend beside the conversation, and asks it. Nobody waits for it longer than for what he asks.
type database struct {
	*env
	events  Events
	prepare func() // run before the end

	opened  chan struct{} // closed when backend stands, or is known not to come
	backend *Backend      // read through now or ready only, for it may still be on its way
	useless bool          // nobody will ever take in what is written down; as backend
	opening context.Context
	giveUp  context.CancelFunc // ends opening

	fresh   chan struct{} // turns may have something to learn from
	stop    chan struct{}
	stopped chan struct{}
	handed  sync.Once
	ended   sync.Once
}

func newDatabase(e *env) *database {
	d := &database{
		env: e, prepare: func() {}, opened: make(chan struct{}), fresh: make(chan struct{}, 1),
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	d.opening, d.giveUp = context.WithCancel(context.Background())
	return d
}

// run is the database's goroutine.
func (d *database) run() {
	defer close(d.stopped)
	d.open()
	learn := time.After(learnAfter) // what earlier processes left
	for {
		select {
		case <-d.fresh:
			learn = time.After(learnAfter)
		case <-learn:
			d.learn(pace.Gently(d.ctx), learnLimit)
		case <-d.stop:
			return
		}
	}
}

// open opens the backend. A database that somebody has locked is tried again until the conversation ends.
func (d *database) open() {
	defer close(d.opened)
	for {
		backend, err := d.o.Open(d.opening)
		if err == nil {
			d.backend = backend
			return
		}
		if d.opening.Err() != nil {
			return
		}
		if !errors.Is(err, sqlite.ErrBusy) {
			d.useless = !errors.Is(err, sqlite.ErrFull)
			d.tell("no memory in this conversation: %v", err)
			d.o.Log.Error().Err(err).Msg("opening the database")
			return
		}
		d.o.Log.Info().Err(err).Msg("the database cannot be opened yet")
		select {
		case <-time.After(openAgain):
		case <-d.opening.Done():
			return
		}
	}
}

// folded is told by the file of events what has come into the database.
func (d *database) folded(ended bool, gone []int) {
	if len(gone) > 0 {
		d.table.Update(func(c *session.Connection) { c.Forgotten(gone) })
	}
	if ended {
		select {
		case d.fresh <- struct{}{}:
		default:
		}
	}
}

// now gives the backend, nil while it is still being opened and when there is none.
func (d *database) now() *Backend {
	select {
	case <-d.opened:
		return d.backend
	default:
		return nil
	}
}

// messages gives what other agents have sent to a session and it was not told yet. The table's lock is held.
func (d *database) messages(s *session.Session) []memory.Item {
	b := d.now()
	if b == nil || b.Messages == nil {
		return nil
	}
	sent := b.Messages(s.Who.Key)
	if len(sent) == 0 {
		return nil
	}
	seen := s.SeenItems()
	return slices.DeleteFunc(sent, func(m memory.Item) bool { return slices.Contains(seen, m.ID) })
}

// ready waits for the backend: nil when there is none, or ctx has ended.
func (d *database) ready(ctx context.Context) *Backend {
	select {
	case <-d.opened:
		return d.backend
	default:
	}
	select {
	case <-d.opened:
		return d.backend
	case <-ctx.Done():
		return nil
	}
}

var errNoLedger = errors.New("no database")

// ask runs f with the ledger, once it has what was written down of sessions. If ctx ends first ask returns at once; f
// is then not begun, or runs with a context that has ended.
func (d *database) ask(ctx context.Context, f func(context.Context, *Backend) error, about ...*session.Session) error {
	b := d.ready(ctx)
	if b == nil {
		return errNoLedger
	}
	result := make(chan error, 1)
	running := d.tasks.run(func(context.Context) {
		err := d.settle(ctx, about)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = f(ctx, b)
		}
		result <- err
	})
	if !running {
		return errNoLedger
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settle waits until the ledger has what was written down of sessions.
func (d *database) settle(ctx context.Context, about []*session.Session) error {
	behind := map[*session.Session]int{}
	d.table.Update(func(*session.Connection) {
		for _, s := range about {
			if events, is := s.Unfolded(); is {
				behind[s] = events
			}
		}
	})
	if len(behind) == 0 {
		return nil
	}
	if err := d.events.Folded(ctx); err != nil {
		return err
	}
	d.table.Update(func(*session.Connection) {
		for s, events := range behind {
			s.FoldedUpTo(events)
		}
	})
	return nil
}

// inquire is ask for something that has an answer.
func inquire[T any](
	ctx context.Context, d *database, f func(context.Context, Ledger) (T, error), about ...*session.Session,
) (T, error) {
	answer := make(chan T, 1)
	err := d.ask(ctx, func(ctx context.Context, b *Backend) error {
		got, err := f(ctx, b.Ledger)
		answer <- got
		return err
	}, about...)
	if err != nil {
		var none T
		return none, err
	}
	return <-answer, nil
}

// catchUp takes in what was said elsewhere just now, by a session that has ended, a process that was killed or one that
// goes on.
func (d *database) catchUp(ctx context.Context, b *Backend) {
	if b.CatchUp == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, catchUpLimit)
	defer cancel()
	b.CatchUp(ctx)
}

// learn lets memory take in the turns that have ended, for no longer than limit.
func (d *database) learn(ctx context.Context, limit time.Duration) {
	b := d.now()
	if b == nil || b.Learn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	b.Learn(ctx)
}

// left has what closed sessions owe delivered, once the ledger knows that they are closed.
func (d *database) left() {
	d.tasks.run(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, leftLimit)
		defer cancel()
		if b := d.ready(ctx); b != nil && b.Left != nil && d.events.Folded(ctx) == nil {
			b.Left(ctx)
		}
	})
}

// over marks the end of the process, and finds somebody for what is owed: once the client has gone, or we are told to
// end. Unless end is, the end is marked only if no turn is under way: one that is may still come to its end.
func (d *database) over(end bool) {
	d.prepare()
	d.table.Update(func(c *session.Connection) { end = end || !c.Busy() })
	if end {
		d.end()
	}
	b := d.now()
	if b == nil || b.HandOver == nil {
		return
	}
	d.handed.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), overLimit)
		defer cancel()
		folded := d.events.Folded(ctx) == nil // else it is the worker's to take in
		b.HandOver(end && folded)
	})
}

// end marks the end of the process, once.
func (d *database) end() {
	d.ended.Do(func() { d.events.Append(eventlog.ProcessEnded{Reason: "ended"}) })
}

// close ends the file of events, and lets the database have what it takes until the time is up. One that is still
// being opened is waited for: the conversation may have been short.
func (d *database) close() {
	ctx, cancel := context.WithTimeout(context.Background(), lastChance)
	defer cancel()
	defer d.giveUp()
	d.prepare()
	d.end()
	b := d.ready(ctx)
	d.giveUp()
	close(d.stop)
	await(ctx, d.stopped)
	switch {
	case b != nil:
		folded := d.events.Folded(ctx) == nil
		if folded {
			d.learn(ctx, lastLearn)
		}
		if b.HandOver != nil {
			d.handed.Do(func() { b.HandOver(folded) })
		}
	case d.isUseless():
		if err := d.events.Discard(); err != nil {
			d.o.Log.Warn().Err(err).Msg("removing the file of events")
		}
		return
	}
	left, err := d.events.Close(ctx)
	if err != nil {
		d.o.Log.Error().Err(err).Msg("ending the file of events")
	}
	if left {
		d.o.Log.Info().Msg("the database did not take all in time; the rest is in the file of events")
	}
}

// isUseless reports whether it is known that nobody will take in what is written down.
func (d *database) isUseless() bool {
	select {
	case <-d.opened:
		return d.useless
	default:
		return false
	}
}
