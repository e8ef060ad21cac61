package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

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

// A Dispatcher starts a worker for what a process owes, and for what others have left. It posts nothing itself, except
// with AtExit: a relay must not wait, and may be killed at any moment.
type Dispatcher struct {
	// Worker is what it starts. Contexts that were not used for longer than StaleAfter are removed, too.
	Worker Worker
	Spawn  Spawn // how it is started
	// Beside says that turns are owed to others than the daemon, too.
	Beside bool
	// Also reports whether a worker has something to do beside deliveries, now and then; nil: it never has.
	Also func(context.Context) (bool, error)
	// AtExit, if not zero, is how long End may take to deliver in this process; no worker is started then.
	AtExit time.Duration

	limit time.Duration // goLimit; tests set more

	ctx    context.Context // ends with the process
	cancel context.CancelFunc
	looks  context.Context // ends with it too, or after sweepLimit
	tasks  guard.Group     // the sweep, and the first processes of workers

	mu      sync.Mutex // guards leaving
	leaving []*os.File // pipes to workers, which begin when these are closed
}

// Begin begins a sweep in a goroutine. End must be called.
func (h *Dispatcher) Begin() {
	h.limit = cmp.Or(h.limit, goLimit)
	h.ctx, h.cancel = context.WithCancel(context.Background())
	var over context.CancelFunc
	h.looks, over = context.WithTimeout(h.ctx, sweepLimit)
	context.AfterFunc(h.ctx, over)
	h.tasks.Go("sweep", h.sweep)
	h.tasks.Go("old turns", func() { h.Worker.expire(pace.Gently(h.looks)) })
	if h.Also != nil && h.AtExit == 0 {
		h.tasks.Go("quiet sessions", h.lookAgain)
	}
}

// sweep folds in what dead processes have left, and starts a worker if anything is due.
func (h *Dispatcher) sweep() {
	guard.Point("sweep")
	err := eventlog.Together(h.looks, filepath.Join(h.Spawn.Dir, SweepTurn), func(ctx context.Context) error {
		return eventlog.Sweep{Store: h.Worker.Store, Log: h.Worker.Log}.Run(pace.Gently(ctx))
	})
	if err != nil && h.looks.Err() == nil {
		h.Worker.Log.Warn().Err(err).Msg("sweeping up after dead processes")
	}
	if err := h.Worker.Store.DropContexts(h.looks, h.Worker.StaleAfter); err != nil && h.looks.Err() == nil {
		h.Worker.Log.Warn().Err(err).Msg("removing old contexts")
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

// due reports whether a worker has something to do now: a delivery is due, the daemon takes a session to be live that
// is not, or is to be asked what became of one.
func (h *Dispatcher) due(ctx context.Context) (bool, error) {
	debts := h.Worker.Store.Debts()
	next, open, err := debts.Due(ctx)
	due := open > 0 && !next.After(time.Now())
	if err == nil && !due {
		var stale []correlation.StaleKey
		stale, err = debts.StaleKeys(ctx, h.Worker.Like, h.Worker.StaleAfter)
		due = len(stale) > 0
	}
	if err == nil && !due {
		var taken []correlation.Debt
		taken, err = debts.ToAsk(ctx)
		due = len(taken) > 0
	}
	if err == nil && !due && h.Also != nil {
		due, err = h.Also(ctx)
	}
	if err != nil && ctx.Err() == nil {
		h.Worker.Log.Warn().Err(err).Msg("looking for what is owed")
	}
	return due && err == nil, err
}

// spawn starts a worker, which begins at once or, with atOurEnd, when we have ended.
func (h *Dispatcher) spawn(atOurEnd bool) {
	began := time.Now()
	pass, _ := json.Marshal(h.Spawn.Pass) // texts
	leaving, first, err := h.Spawn.detached(append(pass, '\n'))
	if err != nil {
		h.Worker.Log.Error().Err(err).Msg("starting a worker")
		return
	}
	h.tasks.Go("worker's start", func() {
		if err := first.Wait(); err != nil {
			h.Worker.Log.Error().Err(err).Msg("detaching a worker")
		}
	})
	h.Worker.Log.Info().Bool("atEnd", atOurEnd).Dur("took", time.Since(began)).Msg("worker started")
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
	if h.AtExit > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.limit)
	defer cancel()
	owed, err := false, error(nil)
	if ended {
		owed, err = h.due(ctx)
	}
	if !ended || err != nil {
		owed, _ = h.Worker.Store.Debts().MayOwe(ctx, h.Worker.Like)
		owed = owed || h.Beside
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
	if due, _ := h.due(ctx); due {
		h.spawn(false)
	}
}
