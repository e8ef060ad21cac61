package delivery

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Until says how long a worker works.
type Until int

const (
	OnePass      Until = iota // for one pass over what is due
	UntilQuiet                // until nothing becomes due within half a minute
	UntilSettled              // until all that is left waits on purpose or has failed in this run
)

const (
	quiet   = 30 * time.Second       // UntilQuiet
	minWait = 200 * time.Millisecond // between two passes: what waits for a process that ends looks due all the time
	maxWait = 2 * time.Second        // between two looks: another process may leave something at any time
)

// Remaining counts the deliveries that are left after a run: those that wait on purpose, because they are not worth a
// job yet, and those that failed in it.
type Remaining struct{ Waiting, Failed int }

const (
	// lockName is a file beside the database: one process at a time delivers, and has it locked.
	lockName = "worker.lock"
	// watchPause is how long to wait between two looks at what another process delivers.
	watchPause = 100 * time.Millisecond
)

// Run delivers until there is no more to do, or until ctx ends, which is no error: what was begun is stored, and the
// rest is left to who runs next. Then it removes turns that were kept for deliveries only. While another process
// delivers, Run watches the debts until that one or it itself has delivered them; with Detached it returns at once.
// Remaining is set only with UntilSettled.
func (w Worker) Run(ctx context.Context, until Until) (rest Remaining, err error) {
	if w.Now == nil {
		w.Now = time.Now
	}
	if until == UntilSettled {
		if err := w.Store.Debts().MakeDue(ctx); err != nil {
			return rest, err
		}
	}
	lock := flock.New(filepath.Join(w.Folder, lockName), flock.SetPermissions(0o600))
	for worked := false; ; {
		locked, err := lock.TryLock()
		if err != nil {
			return rest, fmt.Errorf("locking %s: %w", lock.Path(), err)
		}
		done, more := 0, false
		if locked {
			done, rest, err = w.work(ctx, until)
			err = errors.Join(err, lock.Unlock())
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
			w.expire(ending) // what was kept for deliveries only
			cancel()
			// who became a debtor just now may have found us at work, and gone
			more = err == nil && ctx.Err() == nil && (done > 0 || !worked) && w.due(ctx)
			worked = true
		} else if !w.Detached {
			rest, more, err = w.watch(ctx, until)
		}
		if err != nil || !more {
			return rest, err
		}
		if !pause(ctx, watchPause) {
			return rest, nil
		}
	}
}

// watch looks at what another process delivers; more: there is something left for it, or for us.
func (w *Worker) watch(ctx context.Context, until Until) (rest Remaining, more bool, err error) {
	next, rest, over, err := w.ahead(ctx, until)
	if ctx.Err() != nil {
		return rest, false, nil
	}
	wait := next.Sub(w.Now())
	return rest, !over && !(until == OnePass && wait > 0) && !(until == UntilQuiet && wait > quiet), err
}

// due takes in what the dead have left, and reports whether anything is due.
func (w *Worker) due(ctx context.Context) bool {
	w.sweep(ctx)
	next, open, err := w.Store.Debts().Due(ctx)
	return err == nil && open > 0 && !next.After(w.Now())
}

// work delivers while we hold the lock, and returns how many attempts that were.
func (w *Worker) work(ctx context.Context, until Until) (done int, rest Remaining, err error) {
	for active, due := w.Now(), true; ; {
		w.sweep(ctx)
		n := 0
		if due {
			n, err = w.pass(ctx)
			done += n
		}
		switch {
		case ctx.Err() != nil:
			return done, Remaining{}, nil
		case err != nil && until == UntilSettled:
			w.Log.Warn().Err(err).Msg("delivering")
		case err != nil || until == OnePass:
			return done, Remaining{}, err
		}
		next, rest, over, err := w.ahead(ctx, until)
		if err != nil || over {
			return done, rest, err
		}
		now := w.Now()
		if n > 0 {
			active = now
		}
		wait := next.Sub(now)
		due = wait <= maxWait
		if until == UntilQuiet && (wait > quiet || now.Sub(active) > quiet) {
			return done, Remaining{}, nil
		}
		if !pause(ctx, min(max(wait, minWait), maxWait)) {
			return done, Remaining{}, nil
		}
	}
}

// pause waits so long, and reports false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// ahead says when the next delivery is due. over: none is, or with UntilSettled all the rest is settled.
func (w *Worker) ahead(ctx context.Context, until Until) (next time.Time, rest Remaining, over bool, err error) {
	next, open, err := w.Store.Debts().Due(ctx)
	if err != nil || open == 0 {
		return next, rest, true, err
	}
	if until == UntilSettled {
		rest, over, err = w.remaining(ctx)
	}
	return next, rest, over, err
}

// sweep folds in what dead processes have left.
func (w *Worker) sweep(ctx context.Context) {
	if err := (eventlog.Sweep{Store: w.Store, Log: w.Log}).Run(ctx); err != nil && ctx.Err() == nil {
		w.Log.Warn().Err(err).Msg("sweeping up after dead processes")
	}
}

// remaining counts what is open; settled is false while some of that is due. Run makes all due that had failed before.
func (w *Worker) remaining(ctx context.Context) (rest Remaining, settled bool, err error) {
	all, err := w.Store.Debts().Outstanding(ctx)
	if err != nil {
		return Remaining{}, false, err
	}
	for _, d := range all {
		switch {
		case !d.Done.IsZero():
		case !d.Due.After(w.Now()):
			return Remaining{}, false, nil
		case d.Waits || d.Error == "":
			rest.Waiting++
		default:
			rest.Failed++
		}
	}
	return rest, true, nil
}

// pass delivers what is due now, and returns how many deliveries that were.
func (w *Worker) pass(ctx context.Context) (int, error) {
	w.daemons = make(map[string]*daemonState)
	w.tidyTranscripts()
	seen := make(map[int64]bool)
	for ctx.Err() == nil {
		d, err := w.Store.Debts().TakeUp(ctx)
		if errors.Is(err, correlation.ErrNothingDue) {
			break
		}
		if err != nil {
			return len(seen), err
		}
		a := &attempt{store: w.Store.Debts(), w: w, d: d}
		if seen[d.ID] { // it became due again during this pass
			return len(seen), nil
		}
		seen[d.ID] = true
		switch err := guard.Try("delivery", func() error { return w.deliver(ctx, a) }); {
		case errors.Is(err, guard.ErrPanicked):
			if err := w.Store.Debts().BrokeOff(ctx, d, "a fault of ours: see the log"); err != nil {
				return len(seen), err
			}
		case errors.Is(err, correlation.ErrNotFound):
			w.Log.Warn().Int64("delivery", d.ID).Msg("it was forgotten meanwhile")
		case err != nil:
			return len(seen), err
		}
	}
	w.freeKeys(ctx)
	w.askJobs(ctx)
	return len(seen), nil
}

// deliver makes one attempt. Errors are the database's, or the disk's.
func (w *Worker) deliver(ctx context.Context, a *attempt) (err error) {
	d := a.d
	if a.session, err = w.Store.Get(ctx, d.Session); err != nil {
		return err
	}
	began := w.Now()
	posting, cancel := w.postTime(ctx)
	defer cancel()
	var did string
	post, daemons := map[string]func(context.Context, *daemonState) (string, error){
		correlation.KindDaemon: a.deliverTurns, correlation.KindCompaction: a.deliverSummary,
		correlation.KindMemory: a.deliverMemory,
	}[d.Kind]
	switch {
	case daemons:
		if to := w.daemonAt(posting, d.URL); to.err != nil {
			did, err = "not reached", a.store.Retry(ctx, d, to.err.Error())
		} else {
			did, err = post(posting, to)
		}
	case d.Kind == correlation.KindHook:
		did, err = a.runHook(ctx, w.Hook)
	default: // written by a newer version
		did, err = "deferred", a.store.Retry(ctx, a.d, "this version does not know "+d.Kind)
	}
	w.Log.Info().Int64("delivery", d.ID).Str("kind", d.Kind).Str("key", d.Key).Str("outcome", did).
		Dur("took", w.Now().Sub(began)).AnErr("err", err).Msg("delivery")
	return err
}

// postTime limits a post to half of the worker's time, where that is short and a hook comes after the post.
func (w *Worker) postTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, short := ctx.Deadline()
	if !short || len(w.Hook) == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// daemonAt returns the daemon at a URL, whose health is asked once in a pass.
func (w *Worker) daemonAt(ctx context.Context, url string) *daemonState {
	to := w.daemons[url]
	if to != nil {
		return to
	}
	to = &daemonState{err: errors.New("no daemon is configured")}
	if w.Daemon != nil {
		if to.daemon, to.err = w.Daemon(url); to.err == nil {
			_, to.err = to.daemon.Present(ctx)
		}
	}
	w.daemons[url] = to
	return to
}

// askJobs asks what became of parts that were taken some minutes ago. A daemon that is away is asked in a later pass.
func (w *Worker) askJobs(ctx context.Context) {
	store := w.Store.Debts()
	taken, err := store.ToAsk(ctx)
	for _, d := range taken {
		to := w.daemonAt(ctx, d.URL)
		if ctx.Err() != nil || to.err != nil {
			continue
		}
		jobs, failed := to.daemon.Became(ctx, memory.Session{AgentID: d.AgentID}, d.Jobs)
		if failed != nil {
			to.err = failed
			continue
		}
		if err = store.NoteJobs(ctx, d, jobs); err != nil {
			break
		}
	}
	if err != nil && ctx.Err() == nil {
		w.Log.Warn().Err(err).Msg("asking what became of deliveries")
	}
}

// freeKeys frees keys that nobody uses any more, which the daemon would go on counting as live sessions. It is the one
// place that does: after a kill as after an end, and whether or not something was left to deliver.
func (w *Worker) freeKeys(ctx context.Context) {
	if w.StaleAfter == 0 {
		return
	}
	stale, err := w.Store.Debts().StaleKeys(ctx, w.Like, w.StaleAfter)
	for _, k := range stale {
		to := w.daemonAt(ctx, k.URL)
		if to.err != nil {
			continue // they stay until it answers
		}
		if err = to.daemon.Free(ctx, memory.Session{Key: k.Key, Harness: k.Harness, AgentID: k.AgentID, Cwd: k.Cwd,
			Project: k.Project}); err == nil {
			err = w.Store.Debts().EndKey(ctx, k.Key, k.URL)
		}
		if err != nil {
			break
		}
		w.Log.Info().Str("key", k.Key).Msg("key freed")
	}
	if err != nil && ctx.Err() == nil {
		w.Log.Warn().Err(err).Msg("freeing keys")
	}
}
