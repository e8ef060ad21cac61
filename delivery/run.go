package delivery

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

const (
	// lockName is a file beside the database: one process at a time delivers, and has it locked.
	lockName = "worker.lock"
	// watchPause is how long to wait between two looks at what another process delivers.
	watchPause = 100 * time.Millisecond
	// endLimit is how long removing old turns may take at the end.
	endLimit = 3 * time.Second
)

// A Retention says how long turns are kept once they are not owed to anybody any more. What was learned from them is
// removed with them. Its zero value removes turns at once.
type Retention struct {
	Keep    time.Duration
	Unlearn correlation.Unlearn
}

// Expire removes turns that are older than that.
func (r Retention) expire(ctx context.Context, store *correlation.Store, log zerolog.Logger) {
	gone, err := store.Expire(ctx, time.Now().Add(-r.Keep), r.Unlearn)
	if err != nil && ctx.Err() == nil {
		log.Warn().Err(err).Msg("removing old turns")
	}
	if gone > 0 {
		log.Info().Int("turns", gone).Msg("old turns removed")
	}
}

// Run delivers until there is no more to do, or until ctx ends, which is no error: what was begun is stored, and the
// rest is left to who runs next. Then it removes turns that were kept for deliveries only. While another process
// delivers, Run watches the debts until that one or it itself has delivered them; with Detached it returns at once.
// Remaining is set only with UntilSettled.
func Run(ctx context.Context, o Options, until Until) (rest Remaining, err error) {
	w := newWorker(o)
	if until == UntilSettled {
		if err := o.Store.Debts().MakeDue(ctx); err != nil {
			return rest, err
		}
	}
	lock := flock.New(filepath.Join(o.Folder, lockName), flock.SetPermissions(0o600))
	for worked := false; ; {
		locked, err := lock.TryLock()
		if err != nil {
			return rest, fmt.Errorf("locking %s: %w", lock.Path(), err)
		}
		done, more := 0, false
		if locked {
			done, rest, err = w.work(ctx, until)
			err = errors.Join(err, lock.Unlock())
			w.expire(ctx)
			// who became a debtor just now may have found us at work, and gone
			more = err == nil && ctx.Err() == nil && (done > 0 || !worked) && w.due(ctx)
			worked = true
		} else if !o.Detached {
			rest, more, err = w.watch(ctx, until)
		}
		if err != nil || !more {
			return rest, err
		}
		select {
		case <-time.After(watchPause):
		case <-ctx.Done():
			return rest, nil
		}
	}
}

// watch looks at what another process delivers; more: there is something left for it, or for us.
func (w *worker) watch(ctx context.Context, until Until) (rest Remaining, more bool, err error) {
	next, rest, over, err := w.ahead(ctx, until)
	if ctx.Err() != nil {
		return rest, false, nil
	}
	wait := next.Sub(w.o.Now())
	return rest, !over && !(until == OnePass && wait > 0) && !(until == UntilQuiet && wait > quiet), err
}

// due takes in what the dead have left, and reports whether anything is due.
func (w *worker) due(ctx context.Context) bool {
	w.sweep(ctx)
	next, open, err := w.o.Store.Debts().Due(ctx)
	return err == nil && open > 0 && !next.After(w.o.Now())
}

// expire removes turns that were kept for deliveries only.
func (w *worker) expire(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	w.o.Retention.expire(ctx, w.o.Store, w.o.Log)
}
