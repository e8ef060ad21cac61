package eventlog

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Together does work that is the same for all processes, so that of many who ask at once few do it; file stands for
// it. It waits, as long as ctx lasts, until one has done it who began after it was asked, which may be itself: what a
// process recorded that has just been killed must not be passed over. What a deadline cuts short counts as done: the
// next would come no further.
func Together(ctx context.Context, file string, work func(context.Context) error) error {
	asked := time.Now()
	end, err := sqlite.TakeTurn(ctx, file)
	if err != nil {
		return sqlite.While("waiting for another process", err)
	}
	defer end()
	if done, err := os.Stat(file); err == nil && done.Size() > 0 && done.ModTime().After(asked) {
		return nil
	}
	began := time.Now()
	err = work(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return errors.Join(err, os.Truncate(file, 1), os.Chtimes(file, began, began)) // it is made empty
}
