package sqlite

import (
	"context"

	"github.com/gofrs/flock"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// TakeTurn waits until none of our other processes has the turn that a file stands for, and returns its end. Who waits
// sleeps, in a queue that the system keeps: a crowd that looked again and again would need more time for that than for
// its work. The system ends the turn with its process.
func TakeTurn(ctx context.Context, file string) (end func(), err error) {
	lock := flock.New(file, flock.SetPermissions(0o600))
	release := func() { _ = lock.Unlock() }
	if free, err := lock.TryLock(); free || err != nil {
		return release, err
	}
	mine := make(chan error)
	guard.Go("waiting for a turn", func() {
		err := lock.Lock()
		select {
		case mine <- err:
		case <-ctx.Done():
			release()
		}
	})
	select {
	case err := <-mine:
		return release, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
