// Package delivery hands over what sessions have left: transcripts to a Signet daemon, and to the command that a person configured. What is owed stands
// in package correlation's rows; a Worker leases what is due, posts it, reads the answer and notes what became of it. The detached worker at a process's end,
// the sweep at a start and the command that a person runs are all a Worker.
//
//	w, err := delivery.New(delivery.Options{Store: store, Process: process, Daemon: daemonAt, Dir: dir})
//	err = w.Run(ctx, delivery.UntilQuiet)
//
// It makes no requests itself: it knows a Daemon by the interface that it declares. It logs ids, counts and durations, never what anybody said.
package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// ErrNoAnswer says that a request went out and no readable answer came: the daemon may have taken it. Every other error of a Daemon says that it did not.
var ErrNoAnswer = errors.New("no answer")

// A Daemon takes what sessions leave. Its methods end when ctx does, and by limits of their own.
type Daemon interface {
	// Health reports whether the daemon answers, and whether it is of the newer kind, which takes the whole of a session each time.
	Health(ctx context.Context) (newer bool, err error)
	// End hands a session over.
	End(ctx context.Context, e End) (Reply, error)
	// Compacted hands over a harness's own summary.
	Compacted(ctx context.Context, c Compaction) (Reply, error)
}

// An End is a session-end. File and Text are empty for a session in which nothing was said.
type End struct {
	Key, AgentID, Cwd, Reason string
	File                      string // absolute path of the transcript
	Text                      string // the same, for daemons that take it inline
}

// A Compaction is a compaction-complete.
type Compaction struct{ Key, AgentID, Project, Summary string }

// A Reply is what a daemon made of it.
type Reply struct {
	Note    string        // one line, for people
	Dropped bool          // answered, and not taken
	Why     string        // why it was dropped, where that is known
	Later   bool          // not now: it has to come again
	After   time.Duration // with Later: not before
}

// Options of a Worker.
type Options struct {
	Store   *correlation.Store
	Process *correlation.Process // whose leases they are
	// Daemon gives the daemon at a url; "" is the one that we are configured for. nil: there is none.
	Daemon func(url string) (Daemon, error)
	Hook   Hook   // on_session_end; its zero value runs nothing
	Dir    string // where transcripts lie while they are delivered; made when needed
	// StaleAfter is when a key that was started and never used is ended. Zero: never.
	StaleAfter time.Duration

	Now func() time.Time // nil: time.Now
	Log zerolog.Logger
}

// Until says how long a Worker works.
type Until int

const (
	UntilPassed Until = iota // one pass over what is due
	UntilQuiet               // until nothing comes due within half a minute
	UntilPaid                // until nothing is owed
)

const (
	quiet     = 30 * time.Second       // UntilQuiet
	leastWait = 200 * time.Millisecond // between two passes; what another worker holds looks due all the time
	mostWait  = 2 * time.Second        // others may leave something at any time
	noteLimit = 5 * time.Second        // for noting what became of a post, also when the time for posting is over
)

// A Worker works off deliveries, one at a time. It is used by one goroutine.
type Worker struct {
	o       Options
	daemons map[string]*asked // by url, in this pass
}

// asked is what a daemon said of itself in this pass.
type asked struct {
	daemon Daemon
	newer  bool
	err    error
}

// New makes a worker.
func New(o Options) *Worker {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Worker{o: o}
}

// Run works until there is no more to do, or ctx ends, which is no error: what was begun is noted, and what is left is left to the next worker.
func (w *Worker) Run(ctx context.Context, until Until) error {
	active, due := w.o.Now(), true
	for {
		if _, err := w.o.Store.SweepDead(ctx); err != nil && ctx.Err() == nil {
			w.o.Log.Warn().Err(err).Msg("sweeping up after dead processes")
		}
		done := 0
		var err error
		if due {
			done, err = w.pass(ctx)
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && until != UntilPaid {
			return err
		}
		if err != nil {
			w.o.Log.Warn().Err(err).Msg("delivering")
		}
		if until == UntilPassed {
			return nil
		}
		next, open, err := w.o.Store.Due(ctx)
		if err != nil || open == 0 {
			return err
		}
		now := w.o.Now()
		if done > 0 {
			active = now
		}
		wait := next.Sub(now)
		due = wait <= mostWait
		if until == UntilQuiet && (wait > quiet || now.Sub(active) > quiet) {
			return nil
		}
		select {
		case <-time.After(min(max(wait, leastWait), mostWait)):
		case <-ctx.Done():
			return nil
		}
	}
}

// pass works off what is due now, and gives how many deliveries that were.
func (w *Worker) pass(ctx context.Context) (int, error) {
	w.daemons = make(map[string]*asked)
	w.tidy(ctx)
	seen := make(map[int64]bool)
	for ctx.Err() == nil {
		d, err := w.o.Store.Lease(ctx, w.o.Process)
		if errors.Is(err, correlation.ErrNothingDue) {
			break
		}
		if err != nil {
			return len(seen), err
		}
		if seen[d.ID] { // it came due again while others took their time
			return len(seen), w.note(ctx, func(ctx context.Context) error { return w.o.Store.Defer(ctx, d, d.Due) })
		}
		seen[d.ID] = true
		if err := w.deliver(ctx, d); err != nil {
			if !errors.Is(err, correlation.ErrLeaseLost) {
				return len(seen), err
			}
			w.o.Log.Warn().Int64("delivery", d.ID).Msg("another worker took over")
		}
	}
	w.endStale(ctx)
	return len(seen), nil
}

// deliver makes one attempt at a delivery. Errors are the database's, or the disk's.
func (w *Worker) deliver(ctx context.Context, d correlation.Delivery) error {
	w.remove(d.File) // a dead worker's
	session, err := w.o.Store.Get(ctx, d.Session)
	if err != nil {
		return err
	}
	began := w.o.Now()
	posting, cancel := w.share(ctx)
	defer cancel()
	var did string
	switch d.Kind {
	case correlation.KindDaemon:
		did, err = w.deliverTurns(posting, d, session)
	case correlation.KindCompaction:
		did, err = w.deliverSummary(posting, d, session)
	case correlation.KindHook:
		did, err = w.runHook(ctx, d, session)
	default: // a newer version's
		did, err = "deferred", w.retry(ctx, d, "this version does not know "+d.Kind, 0)
	}
	w.o.Log.Info().Int64("delivery", d.ID).Str("kind", d.Kind).Str("key", d.Key).Str("outcome", did).Dur("took", w.o.Now().Sub(began)).AnErr("err", err).Msg("delivery")
	return err
}

// share is how much of a worker's time a post may take: half, where it has little and a hook comes after it.
func (w *Worker) share(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, short := ctx.Deadline()
	if !short || len(w.o.Hook.Command) == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// note runs what records an outcome, in its own time: what was posted must not be forgotten because the time for posting is over.
func (w *Worker) note(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
	defer cancel()
	return f(ctx)
}

func (w *Worker) retry(ctx context.Context, d correlation.Delivery, why string, after time.Duration) error {
	return w.note(ctx, func(ctx context.Context) error { return w.o.Store.Retry(ctx, d, why, after) })
}

// at gives the daemon at a url, which was asked in this pass whether it is there: to post to one that does not answer at all would leave a doubt for nothing.
func (w *Worker) at(ctx context.Context, url string) *asked {
	a := w.daemons[url]
	if a != nil {
		return a
	}
	a = &asked{err: errors.New("no daemon is configured")}
	if w.o.Daemon != nil {
		if a.daemon, a.err = w.o.Daemon(url); a.err == nil {
			a.newer, a.err = a.daemon.Health(ctx)
		}
	}
	w.daemons[url] = a
	return a
}

// endStale ends keys that were started and never used, so that the daemon does not go on counting them as live sessions.
func (w *Worker) endStale(ctx context.Context) {
	if w.o.StaleAfter == 0 || w.o.Daemon == nil || ctx.Err() != nil {
		return
	}
	log := func(err error) { w.o.Log.Warn().Err(err).Msg("ending unused keys") }
	stale, err := w.o.Process.StaleKeys(ctx, w.o.StaleAfter)
	if err != nil {
		log(err)
		return
	}
	for _, k := range stale {
		session, err := w.o.Store.Get(ctx, k.Session)
		if err != nil {
			log(err)
			return
		}
		a := w.at(ctx, "")
		if a.err != nil {
			return // they keep until it is there
		}
		if first, err := w.o.Store.EndKey(ctx, k.Key); err != nil || !first {
			if err != nil {
				log(err)
				return
			}
			continue
		}
		_, err = a.daemon.End(ctx, End{Key: k.Key, AgentID: session.AgentID, Cwd: session.Cwd, Reason: reasonEnded})
		w.o.Log.Info().Str("key", k.Key).AnErr("err", err).Msg("unused key ended")
	}
}
