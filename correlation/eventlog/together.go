package eventlog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Together does work that is the same for all processes of a folder, so that of many who ask at once few do it. It
// waits, as long as ctx lasts, until one has done it who began no earlier than a moment before it was asked, which may
// be itself.
func Together(ctx context.Context, dir, name string, work func(context.Context) error) error {
	asked := time.Now().Add(-moment)
	path := filepath.Join(dir, name+".lock")
	turn := flock.New(path, flock.SetPermissions(0o600))
	if mine, err := turn.TryLockContext(ctx, nextTurn); !mine {
		return sqlite.While("waiting for another process", err)
	}
	defer turn.Close()
	if done, err := os.Stat(path); err == nil && done.Size() > 0 && done.ModTime().After(asked) {
		return nil
	}
	began := time.Now()
	if err := work(ctx); err != nil {
		return err
	}
	return errors.Join(ctx.Err(), os.Truncate(path, 1), os.Chtimes(path, began, began)) // it is made empty
}

const (
	nextTurn = 40 * time.Millisecond // between two looks whether another has finished
	moment   = 200 * time.Millisecond
)
