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
	"github.com/Signet-AI/signet-acp-proxy/pace"
)

// AutoBackfillWord is the flag of memory backfill by which a relay starts it (backfill: auto).
const AutoBackfillWord = "parted"

// AutoBackfill takes in what agents have written since it last did, unless another process does so: a tenth of a core.
func (d *Data) AutoBackfill(ctx context.Context) error {
	lock := flock.New(filepath.Join(d.Config.Dir(), "backfill.lock"), flock.SetPermissions(0o600))
	if mine, err := lock.TryLock(); !mine {
		return err
	}
	defer lock.Close()
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

// autoBackfillOnce returns what starts AutoBackfill in a process of its own, the first time that it is called.
func autoBackfillOnce(c *config.Config, log *logFile) func(context.Context) {
	var once sync.Once
	return func(context.Context) {
		once.Do(func() {
			if err := spawn(c, "memory", "backfill", "--"+AutoBackfillWord).Tell(nil); err != nil {
				log.Warn().Err(err).Msg("starting to take in what agents have written")
			}
		})
	}
}
