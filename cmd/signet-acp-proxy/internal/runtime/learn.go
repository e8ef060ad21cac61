package runtime

import (
	"context"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// lockShare is the part of a prompt's longest wait that folding waits for a lock on the database at a time: 25 ms of
// 1.5 s.
const lockShare = 60

// foldAll folds in what other processes have recorded just now, and learns from it. Of many processes that begin at
// once few do that, for all.
func (b *backend) foldAll(ctx context.Context, store *correlation.Store) {
	err := eventlog.Together(ctx, filepath.Join(b.c.Dir(), foldTurn), func(ctx context.Context) error {
		ctx = sqlite.WithLockWait(ctx, b.c.Hold/lockShare)
		if err := b.others(store).Run(ctx); err != nil {
			return err
		}
		b.learn(ctx)
		return nil
	})
	b.log.repeated(ctx, "taking in new turns", err)
}

// others folds in the files of all other processes.
func (b *backend) others(store *correlation.Store) eventlog.Sweep {
	return eventlog.Sweep{Store: store, Log: b.log.Logger, Living: true, Except: b.events.Process(),
		Tell: b.std.Line}
}

// learnInTurn learns once no other process does, so that none reads a turn that another reads just now.
func (b *backend) learnInTurn(ctx context.Context) {
	if end, err := sqlite.TakeTurn(ctx, filepath.Join(b.c.Dir(), learnTurn)); err == nil {
		defer end()
		b.learn(ctx)
	}
}

// learn makes memories of the turns that have ended.
func (b *backend) learn(ctx context.Context) {
	b.log.repeated(ctx, "learning from turns", b.learner.Learn(ctx))
}
