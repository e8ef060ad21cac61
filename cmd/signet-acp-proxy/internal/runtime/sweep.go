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
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/backfill"
	"github.com/Signet-AI/signet-acp-proxy/pace"
)

// SweepWord is the flag of memory backfill by which a relay starts it (backfill: auto).
const SweepWord = "parted"

// quiet is how long a file must not have been written before a sweep reads it.
const quiet = 20 * time.Second

// Sweep takes in what agents have written since the last sweep, unless another process does so: a tenth of a core, and
// behind all other work.
func (d *Data) Sweep(ctx context.Context) error {
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

// sweepOnce returns what starts a sweep in a process of its own, the first time that it is called.
func sweepOnce(c *config.Config, log *logFile) func(context.Context) {
	var once sync.Once
	return func(context.Context) {
		once.Do(func() {
			if err := spawn(c, "memory", "backfill", "--"+SweepWord).Tell(nil); err != nil {
				log.warn(err).Msg("starting to take in what agents have written")
			}
		})
	}
}

// writtenBy is how many conversations an agent has written down, and since when; Since is zero where none says.
type writtenBy struct {
	Agent         string
	Conversations int
	Since         time.Time
}

// Look counts the conversations that could be taken in, without a database. whole is false where ctx ended before.
func Look(ctx context.Context, c *config.Config) (all []writtenBy, whole bool, err error) {
	home, err := memory.Home()
	if err != nil {
		return nil, false, err
	}
	for _, agent := range BackfillAgents(false) {
		found := writtenBy{Agent: agent}
		err := backfill.Walk(ctx, backfill.Place{Home: home, Getenv: os.Getenv}, agent, backfill.Visitor{
			Skip: func(backfill.Skip) {},
			Conversation: func(one backfill.Conversation) error {
				if child, _ := one.HasParent(); child || one.Part > 0 || memory.OptedOut(one.Cwd, c.Exclude) {
					return nil
				}
				found.Conversations++
				if at := one.Turns[0].Started; !at.IsZero() && (found.Since.IsZero() || at.Before(found.Since)) {
					found.Since = at
				}
				return nil
			},
		})
		if found.Conversations > 0 {
			all = append(all, found)
		}
		switch {
		case ctx.Err() != nil:
			return all, false, nil
		case err != nil:
			return all, false, err
		}
	}
	return all, true, nil
}
