package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/pace"
)

// AutoBackfillWord is the flag of memory backfill by which a relay starts it (backfill: auto).
const AutoBackfillWord = "parted"

// quiet is how long a file must not have been written before it is read.
const quiet = 20 * time.Second

// AutoBackfill takes in what agents have written since it last did, unless another process does so: a tenth of a core,
// and behind all other work.
func (d *Data) AutoBackfill(ctx context.Context) error {
	lock := flock.New(filepath.Join(d.Config.Dir(), "backfill.lock"), flock.SetPermissions(0o600))
	if mine, err := lock.TryLock(); !mine {
		return err
	}
	defer lock.Close()
	stepBack()
	began := time.Now()
	b := Backfill{Data: d, Quiet: quiet}
	if last, err := os.Stat(lock.Path()); err == nil && last.Size() > 0 { // else there was none
		b.Written = last.ModTime().Add(-quiet)
	}
	if _, err := b.Run(pace.Gently(ctx), BackfillAgents(false)); err != nil {
		return err
	}
	return errors.Join(os.Truncate(lock.Path(), 1), os.Chtimes(lock.Path(), began, began))
}

// Watch takes in what agents write, until ctx ends, and calls done with each result that has something new. It looks
// every ten seconds, or less often where looking takes long.
func (b Backfill) Watch(ctx context.Context, agents []string, done func([]Backfilled)) error {
	for {
		began := time.Now()
		eventlog.FoldAll(ctx, b.Data.Sessions, b.Data.Log.Logger(), nil)
		all, err := b.Run(ctx, agents)
		for _, got := range all {
			if got.Turns+got.Subagents > 0 {
				done([]Backfilled{got})
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		b.Written, b.Quiet = began.Add(-quiet), quiet
		select {
		case <-time.After(max(10*time.Second, 50*time.Since(began))):
		case <-ctx.Done():
			return nil
		}
	}
}

// autoBackfillOnce returns what starts AutoBackfill in a process of its own, the first time that it is called.
func autoBackfillOnce(c *config.Config, log *logFile) func(context.Context) {
	var once sync.Once
	return func(context.Context) {
		once.Do(func() {
			if err := spawn(c, "memory", "backfill", "--"+AutoBackfillWord).Tell(nil); err != nil {
				log.warn(err).Msg("starting to take in what agents have written")
			}
		})
	}
}
