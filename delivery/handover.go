package delivery

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/pace"
)

// goLimit is for what a process still asks its database when it goes: somebody waits for that.
const goLimit = 100 * time.Millisecond

// sweepLimit is for looking at what others have left.
const sweepLimit = time.Minute

// HandoverOptions of a Handover.
type HandoverOptions struct {
	Store   *correlation.Store
	Process *correlation.Process
	Spawn   Spawn // how a worker is started
	// ContextAge is how old a context may be that was fetched and not used.
	ContextAge time.Duration
	Retention  Retention
	// Nothing says that turns which are still under way will owe nothing, whatever becomes of them.
	Nothing bool
	// AtExit, if not zero, is how long End may take to deliver by itself, with Deliver; nobody is started then.
	AtExit  time.Duration
	Deliver func(ctx context.Context) error

	Log zerolog.Logger
}

// A Handover sees to it that what a process owes, and what others have left, finds a worker to deliver it. It posts
// nothing itself, but for AtExit: a relay must not wait, and may be killed at any moment.
type Handover struct {
	o HandoverOptions

	ctx    context.Context // ends with the process
	cancel context.CancelFunc
	looks  context.Context // ends with it too, or after sweepLimit
	tasks  sync.WaitGroup  // the sweep, and the first processes of workers

	mu      sync.Mutex // guards leaving
	leaving []*os.File // their end is ours: workers wait for it
}

// NewHandover begins with a sweep, beside the conversation. The caller ends it.
func NewHandover(o HandoverOptions) *Handover {
	h := &Handover{o: o}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	var over context.CancelFunc
	h.looks, over = context.WithTimeout(h.ctx, sweepLimit)
	context.AfterFunc(h.ctx, over)
	h.tasks.Go(h.sweep)
	h.tasks.Go(func() { o.Retention.Expire(pace.Gently(h.looks), o.Store, o.Log) })
	return h
}

// sweep looks at what dead processes have left, and starts a worker if anything is due.
func (h *Handover) sweep() {
	if _, err := (eventlog.Sweep{Store: h.o.Store, Log: h.o.Log}).Run(pace.Gently(h.looks)); err != nil &&
		h.looks.Err() == nil {
		h.o.Log.Warn().Err(err).Msg("sweeping up after dead processes")
	}
	if err := h.o.Store.DropContexts(h.looks, h.o.ContextAge); err != nil && h.looks.Err() == nil {
		h.o.Log.Warn().Err(err).Msg("removing old contexts")
	}
	if h.due(h.looks) || h.stale(h.looks) {
		h.spawn(false)
	}
}

// due reports whether a delivery is known to be due now.
func (h *Handover) due(ctx context.Context) bool {
	due, err := h.ask(ctx)
	return due && err == nil
}

// ask asks the database whether a delivery is due now.
func (h *Handover) ask(ctx context.Context) (bool, error) {
	next, open, err := h.o.Store.Due(ctx)
	if err != nil && ctx.Err() == nil {
		h.o.Log.Warn().Err(err).Msg("looking for what is owed")
	}
	return open > 0 && !next.After(time.Now()), err
}

// stale reports whether the daemon knows of keys that nobody will use.
func (h *Handover) stale(ctx context.Context) bool {
	keys, err := h.o.Process.StaleKeys(ctx, h.o.ContextAge)
	return err == nil && len(keys) > 0
}

// spawn starts a worker, which begins at once, or when we have gone.
func (h *Handover) spawn(atOurEnd bool) {
	began := time.Now()
	leaving, first, err := h.o.Spawn.start()
	if err != nil {
		h.o.Log.Error().Err(err).Msg("starting a worker")
		return
	}
	h.tasks.Go(func() { h.reap(first) })
	h.o.Log.Info().Bool("atEnd", atOurEnd).Dur("took", time.Since(began)).Msg("worker started")
	if !atOurEnd {
		leaving.Close()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaving = append(h.leaving, leaving)
}

func (h *Handover) reap(first *exec.Cmd) {
	if err := first.Wait(); err != nil {
		h.o.Log.Error().Err(err).Msg("detaching a worker")
	}
}

// Over is told when the client has gone, or we are told to end; ended says that what is owed stands in rows already.
// Else, and where the database does not say, there may be something.
func (h *Handover) Over(ended bool) {
	if h.o.AtExit > 0 {
		return
	}
	owed := !h.o.Nothing
	if ended {
		ctx, cancel := context.WithTimeout(context.Background(), goLimit)
		defer cancel()
		if due, err := h.ask(ctx); err == nil {
			owed = due
		}
	}
	if owed {
		h.spawn(true)
	}
}

// Deliver starts a worker if anything is due now.
func (h *Handover) Deliver() {
	h.tasks.Go(func() {
		if h.due(h.ctx) {
			h.spawn(false)
		}
	})
}

// Now starts a worker if anything is due already: the client has closed a session.
func (h *Handover) Now(ctx context.Context) {
	if h.due(ctx) {
		h.spawn(false)
	}
}

// End is the last thing that a process does with its database: from here on workers begin.
func (h *Handover) End() {
	h.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), goLimit)
	defer cancel()
	done := make(chan struct{})
	go func() {
		h.tasks.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done(): // somebody else has the database locked; whatever still waits for it goes with us
	}
	if h.o.Retention.Keep == 0 { // without anything to deliver there is no worker to do so
		h.o.Retention.Expire(ctx, h.o.Store, h.o.Log)
	}
	if h.o.AtExit > 0 {
		h.deliver()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.leaving {
		f.Close()
	}
}

// deliver delivers what is due before we exit.
func (h *Handover) deliver() {
	ctx, cancel := context.WithTimeout(context.Background(), h.o.AtExit)
	defer cancel()
	if !h.due(ctx) {
		return
	}
	if err := h.o.Deliver(ctx); err != nil {
		h.o.Log.Warn().Err(err).Msg("delivering before the exit")
	}
}
