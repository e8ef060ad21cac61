package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// Options of a worker.
type Options struct {
	Store   *correlation.Store
	Process *correlation.Process // the holder of the leases; Run registers one
	// Daemon returns the daemon at a URL; "" is the configured one. nil: there is none.
	Daemon func(url string) (Daemon, error)
	Hook   Hook   // on_session_end; its zero value runs nothing
	Dir    string // where transcripts lie while they are delivered; made when needed
	// StaleAfter is the age at which a key that was started and never used is ended. Zero: never.
	StaleAfter time.Duration
	// Wake, if not nil, says that there may be something new to deliver.
	Wake <-chan struct{}

	Now func() time.Time // nil: time.Now
	Log zerolog.Logger
}

// Until says how long a worker works.
type Until int

const (
	OnePass      Until = iota // for one pass over what is due
	UntilQuiet                // until nothing becomes due within half a minute
	UntilSettled              // until all that is left waits on purpose or has failed in this run
)

const (
	quiet   = 30 * time.Second       // UntilQuiet
	minWait = 200 * time.Millisecond // between two passes: what another worker has leased looks due all the time
	maxWait = 2 * time.Second        // between two looks: another process may leave something at any time
)

// Remaining counts the deliveries that are left after a run: those that wait on purpose, because they are not worth a
// job yet, and those that failed in it.
type Remaining struct{ Waiting, Failed int }

// A worker makes deliveries, one at a time. It is used by one goroutine.
type worker struct {
	o        Options
	files    transcripts
	daemons  map[string]*daemonState // by URL, for this pass
	outcomes map[int64]outcome       // of deliveries that are still open, in this run
}

// An outcome is that of an attempt which did not end its delivery.
type outcome int

const (
	failed outcome = iota + 1
	waiting
)

// newWorker makes a worker.
func newWorker(o Options) *worker {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &worker{o: o, files: transcripts{o.Dir, o.Log}, outcomes: make(map[int64]outcome)}
}

// Run works until there is no more to do, or until ctx ends, which is no error: what was begun is stored, and the rest
// is left to the next worker. Remaining is set only with UntilSettled.
func (w *worker) Run(ctx context.Context, until Until) (Remaining, error) {
	if until == UntilSettled {
		if err := w.o.Store.MakeDue(ctx); err != nil {
			return Remaining{}, err
		}
	}
	active, due := w.o.Now(), true
	for {
		done, err := w.round(ctx, due)
		switch {
		case ctx.Err() != nil:
			return Remaining{}, nil
		case err != nil && until == UntilSettled:
			w.o.Log.Warn().Err(err).Msg("delivering")
		case err != nil || until == OnePass:
			return Remaining{}, err
		}
		next, rest, over, err := w.ahead(ctx, until)
		if err != nil || over {
			return rest, err
		}
		now := w.o.Now()
		if done > 0 {
			active = now
		}
		wait := next.Sub(now)
		due = wait <= maxWait
		if until == UntilQuiet && (wait > quiet || now.Sub(active) > quiet) {
			return Remaining{}, nil
		}
		select {
		case <-time.After(min(max(wait, minWait), maxWait)):
		case <-w.o.Wake:
			active, due = now, true
		case <-ctx.Done():
			return Remaining{}, nil
		}
	}
}

// ahead says when the next delivery is due. over: none is, or with UntilSettled all the rest is settled.
func (w *worker) ahead(ctx context.Context, until Until) (next time.Time, rest Remaining, over bool, err error) {
	next, open, err := w.o.Store.Due(ctx)
	if err != nil || open == 0 {
		return next, rest, true, err
	}
	if until == UntilSettled {
		rest, over, err = w.remaining(ctx)
	}
	return next, rest, over, err
}

// round folds in what dead processes have left and, if anything is due, makes a pass.
func (w *worker) round(ctx context.Context, due bool) (done int, err error) {
	if _, err := (eventlog.Sweep{Store: w.o.Store, Log: w.o.Log}).Run(ctx); err != nil && ctx.Err() == nil {
		w.o.Log.Warn().Err(err).Msg("sweeping up after dead processes")
	}
	if due {
		done, err = w.pass(ctx)
	}
	return done, err
}

// remaining counts what is open; settled is false while some of that may still be delivered in this run.
func (w *worker) remaining(ctx context.Context) (rest Remaining, settled bool, err error) {
	all, err := w.o.Store.Outstanding(ctx)
	if err != nil {
		return Remaining{}, false, err
	}
	for _, d := range all {
		later := d.Due.After(w.o.Now())
		switch {
		case !d.Done.IsZero():
		case w.outcomes[d.ID] == failed:
			rest.Failed++
		case w.outcomes[d.ID] == waiting && later, later && d.Error == "" && d.Lease == "":
			rest.Waiting++
		default:
			return Remaining{}, false, nil
		}
	}
	return rest, true, nil
}

// pass delivers what is due now, and returns how many deliveries that were.
func (w *worker) pass(ctx context.Context) (int, error) {
	w.daemons = make(map[string]*daemonState)
	w.files.tidy(ctx, w.o.Now().Add(-orphanAge-w.o.Hook.limit()))
	seen := make(map[int64]bool)
	for ctx.Err() == nil {
		d, closed, err := w.o.Store.Lease(ctx, w.o.Process)
		for _, file := range closed {
			w.files.remove(file)
		}
		if errors.Is(err, correlation.ErrNothingDue) {
			break
		}
		if err != nil {
			return len(seen), err
		}
		a := &attempt{store: w.o.Store, files: w.files, owner: w.o.Process.ID(), d: d}
		if seen[d.ID] { // it became due again during this pass
			return len(seen), a.deferUntil(ctx, d.Due)
		}
		seen[d.ID] = true
		switch err := guard.Try("delivery", func() error { return w.deliver(ctx, a) }); {
		case errors.Is(err, guard.ErrPanicked): // its lease ends with this worker
		case errors.Is(err, correlation.ErrLeaseLost):
			w.o.Log.Warn().Int64("delivery", d.ID).Msg("another worker took over")
		case err != nil:
			return len(seen), err
		}
	}
	w.endStale(ctx)
	return len(seen), nil
}

// deliver makes one attempt. Errors are the database's, or the disk's.
func (w *worker) deliver(ctx context.Context, a *attempt) (err error) {
	d := a.d
	w.files.remove(d.File) // left by a killed worker
	if a.session, err = w.o.Store.Get(ctx, d.Session); err != nil {
		return err
	}
	began := w.o.Now()
	posting, cancel := w.postTime(ctx)
	defer cancel()
	var did string
	switch d.Kind {
	case correlation.KindDaemon:
		did, err = a.deliverTurns(posting, w.daemonAt(posting, d.URL))
	case correlation.KindCompaction:
		did, err = a.deliverSummary(posting, w.daemonAt(posting, d.URL))
	case correlation.KindMemory:
		did, err = a.deliverMemory(posting, w.daemonAt(posting, d.URL))
	case correlation.KindHook:
		did, err = a.runHook(ctx, w.o.Hook)
	default: // written by a newer version
		did, err = "deferred", a.retry(ctx, "this version does not know "+d.Kind, 0)
	}
	w.outcomes[d.ID] = failed // where the row is still open
	if did == notYet || did == later {
		w.outcomes[d.ID] = waiting
	}
	w.o.Log.Info().Int64("delivery", d.ID).Str("kind", d.Kind).Str("key", d.Key).Str("outcome", did).
		Dur("took", w.o.Now().Sub(began)).AnErr("err", err).Msg("delivery")
	return err
}

// postTime limits a post to half of the worker's time, where that is short and a hook comes after the post.
func (w *worker) postTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, short := ctx.Deadline()
	if !short || len(w.o.Hook.Command) == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// daemonAt returns the daemon at a URL, whose health is asked once in a pass.
func (w *worker) daemonAt(ctx context.Context, url string) *daemonState {
	to := w.daemons[url]
	if to != nil {
		return to
	}
	to = &daemonState{err: errors.New("no daemon is configured")}
	if w.o.Daemon != nil {
		if to.daemon, to.err = w.o.Daemon(url); to.err == nil {
			to.err = to.daemon.Health(ctx)
		}
	}
	w.daemons[url] = to
	return to
}

// endStale ends keys that were started and never used, which the daemon would go on counting as live sessions.
func (w *worker) endStale(ctx context.Context) {
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
		to := w.daemonAt(ctx, "")
		if to.err != nil {
			return // they stay until it answers
		}
		if first, err := w.o.Store.EndKey(ctx, k.Key); err != nil || !first {
			if err != nil {
				log(err)
				return
			}
			continue
		}
		_, err = to.daemon.End(ctx, End{Key: k.Key, AgentID: k.AgentID, Cwd: k.Cwd, Reason: reasonEnded})
		w.o.Log.Info().Str("key", k.Key).AnErr("err", err).Msg("unused key ended")
	}
}
