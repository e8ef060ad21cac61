package delivery

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/pace"
)

// goLimit is how long a process may use its database when its client has gone, and again when it ends.
const goLimit = 100 * time.Millisecond

// SweepTurn is a file in the database's folder: of processes that begin at once one sweeps, for all.
const SweepTurn = "sweep.lock"

// alsoEvery is how often that is asked while the process goes on: sessions become quiet.
const alsoEvery = 5 * time.Minute

// sweepLimit is how long looking at what others have left may take.
const sweepLimit = time.Minute

// DispatcherOptions are the options of a Dispatcher.
type DispatcherOptions struct {
	Store *correlation.Store
	Like  correlation.ProcessInfo // as Options.Like
	Spawn Spawn                   // how a worker is started
	// ContextAge is how old a context may be that was fetched and not used; older ones are removed.
	ContextAge time.Duration
	Retention  Retention
	// Beside says that turns are owed to others than the daemon, too.
	Beside bool
	// Also reports whether a worker has something to do beside deliveries, now and then; nil: it never has.
	Also func(context.Context) (bool, error)
	// AtExit, if not zero, is how long End may take to deliver with Deliver, in this process; no worker is started
	// then.
	AtExit  time.Duration
	Deliver func(ctx context.Context) error

	Log zerolog.Logger
}

// A Dispatcher starts a worker for what a process owes, and for what others have left. It posts nothing itself, except
// with AtExit: a relay must not wait, and may be killed at any moment.
type Dispatcher struct {
	o     DispatcherOptions
	limit time.Duration // goLimit; tests set more

	ctx    context.Context // ends with the process
	cancel context.CancelFunc
	looks  context.Context // ends with it too, or after sweepLimit
	tasks  guard.Group     // the sweep, and the first processes of workers

	mu      sync.Mutex // guards leaving
	leaving []*os.File // pipes to workers, which begin when these are closed
}

// NewDispatcher makes a Dispatcher, and begins a sweep in a goroutine. End must be called.
func NewDispatcher(o DispatcherOptions) *Dispatcher {
	h := &Dispatcher{o: o, limit: goLimit}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	var over context.CancelFunc
	h.looks, over = context.WithTimeout(h.ctx, sweepLimit)
	context.AfterFunc(h.ctx, over)
	h.tasks.Go("sweep", h.sweep)
	h.tasks.Go("old turns", func() { o.Retention.expire(pace.Gently(h.looks), o.Store, o.Log) })
	if o.Also != nil && o.AtExit == 0 {
		h.tasks.Go("quiet sessions", h.lookAgain)
	}
	return h
}

// sweep folds in what dead processes have left, and starts a worker if anything is due.
func (h *Dispatcher) sweep() {
	guard.Point("sweep")
	err := eventlog.Together(h.looks, filepath.Join(h.o.Spawn.Dir, SweepTurn), func(ctx context.Context) error {
		err := eventlog.Sweep{Store: h.o.Store, Log: h.o.Log}.Run(pace.Gently(ctx))
		return err
	})
	if err != nil && h.looks.Err() == nil {
		h.o.Log.Warn().Err(err).Msg("sweeping up after dead processes")
	}
	if err := h.o.Store.DropContexts(h.looks, h.o.ContextAge); err != nil && h.looks.Err() == nil {
		h.o.Log.Warn().Err(err).Msg("removing old contexts")
	}
	h.Now(h.looks)
}

// lookAgain starts a worker now and then, if it has something to do.
func (h *Dispatcher) lookAgain() {
	tick := time.NewTicker(alsoEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			h.Now(h.ctx)
		case <-h.ctx.Done():
			return
		}
	}
}

// due reports whether a worker has something to do now; false where that cannot be known.
func (h *Dispatcher) due(ctx context.Context) bool {
	due, err := h.ask(ctx)
	return due && err == nil
}

// ask asks the database whether a delivery is due now, the daemon takes a session to be live that is not, or is to be
// asked what became of one.
func (h *Dispatcher) ask(ctx context.Context) (bool, error) {
	debts := h.o.Store.Debts()
	next, open, err := debts.Due(ctx)
	due := open > 0 && !next.After(time.Now())
	if err == nil && !due {
		var stale []correlation.StaleKey
		stale, err = debts.StaleKeys(ctx, h.o.Like, h.o.ContextAge)
		due = len(stale) > 0
	}
	if err == nil && !due {
		var taken []correlation.Debt
		taken, err = debts.ToAsk(ctx)
		due = len(taken) > 0
	}
	if err == nil && !due && h.o.Also != nil {
		due, err = h.o.Also(ctx)
	}
	if err != nil && ctx.Err() == nil {
		h.o.Log.Warn().Err(err).Msg("looking for what is owed")
	}
	return due, err
}

// spawn starts a worker, which begins at once or, with atOurEnd, when we have ended.
func (h *Dispatcher) spawn(atOurEnd bool) {
	began := time.Now()
	leaving, first, err := h.o.Spawn.start()
	if err != nil {
		h.o.Log.Error().Err(err).Msg("starting a worker")
		return
	}
	h.tasks.Go("worker's start", func() {
		if err := first.Wait(); err != nil {
			h.o.Log.Error().Err(err).Msg("detaching a worker")
		}
	})
	h.o.Log.Info().Bool("atEnd", atOurEnd).Dur("took", time.Since(began)).Msg("worker started")
	if !atOurEnd {
		leaving.Close()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaving = append(h.leaving, leaving)
}

// ClientGone is called when the client has gone, or we are told to end. It starts a worker if anything may be owed.
// ended says that all that is owed is in the database already. Of a crowd that ends at once few get it in, or hear from
// the database in time: a worker each would keep the machine busy, so whoever owes only a daemon that has answered some
// day leaves that to the next process that starts.
func (h *Dispatcher) ClientGone(ended bool) {
	guard.Point("hand-over")
	if h.o.AtExit > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.limit)
	defer cancel()
	owed, err := false, error(nil)
	if ended {
		owed, err = h.ask(ctx)
	}
	if !ended || err != nil {
		owed, _ = h.o.Store.Debts().MayOwe(ctx, h.o.Like)
		owed = owed || h.o.Beside
	}
	if owed {
		h.spawn(true)
	}
}

// Deliver starts a worker if anything is due, without waiting for the database.
func (h *Dispatcher) Deliver() {
	h.tasks.Go("hand-over", func() { h.Now(h.ctx) })
}

// Now starts a worker if anything is due, as after a session that the client has closed.
func (h *Dispatcher) Now(ctx context.Context) {
	if h.due(ctx) {
		h.spawn(false)
	}
}

// End waits for what runs, delivers with AtExit, and lets the workers begin. It is the last use of the database by this
// process.
func (h *Dispatcher) End() {
	h.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), h.limit)
	defer cancel()
	done := make(chan struct{})
	guard.Go("hand-over's end", func() {
		defer close(done)
		h.tasks.Wait()
	})
	select {
	case <-done:
	case <-ctx.Done(): // another process has the database locked; what still waits for it ends with this process
	}
	if h.o.Retention.Keep == 0 { // where nothing is to be delivered no worker does it
		guard.Run("old turns", func() { h.o.Retention.expire(ctx, h.o.Store, h.o.Log) })
	}
	if h.o.AtExit > 0 {
		guard.Run("delivery", h.deliverAtExit)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.leaving {
		f.Close()
	}
}

// deliverAtExit delivers what is due before we exit.
func (h *Dispatcher) deliverAtExit() {
	ctx, cancel := context.WithTimeout(context.Background(), h.o.AtExit)
	defer cancel()
	if !h.due(ctx) {
		return
	}
	if err := h.o.Deliver(ctx); err != nil {
		h.o.Log.Warn().Err(err).Msg("delivering before the exit")
	}
}
