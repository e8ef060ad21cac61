// Package correlationtest makes databases and fills them, for tests and examples.
package correlationtest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// Open makes a database, acp/sessions.db in a temporary folder. The caller calls remove, which removes both. It panics
// if that fails.
func Open() (db *sql.DB, dir string, remove func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	if db, err = migrations.Open(context.Background(), filepath.Join(dir, "acp", "sessions.db")); err != nil {
		panic(err)
	}
	return db, dir, func() {
		db.Close()
		os.RemoveAll(dir)
	}
}

// Apply has events happen in a process. ErrStateChanged and ErrIllegalStep are of an event that came too late; those
// before it count.
func Apply(ctx context.Context, s *correlation.Store, process string, events ...correlation.Event) (late error) {
	err := s.Batch(ctx, process, func(b *correlation.Batch) error {
		for _, e := range events {
			err := b.Apply(e)
			if errors.Is(err, correlation.ErrStateChanged) || errors.Is(err, correlation.ErrIllegalStep) {
				late = err
				return nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(late, err)
}

// Session opens a session, which its process holds if one is named.
func Session(ctx context.Context, s *correlation.Store, o correlation.OpenSession) (correlation.Session, error) {
	_, n, err := numbers(ctx, s, o.Process, 0)
	if err == nil {
		err = Apply(ctx, s, o.Process, correlation.Opened{Session: n, Open: o})
	}
	if err != nil {
		return correlation.Session{}, err
	}
	row, err := s.EventSession(ctx, o.Process, n)
	if err != nil {
		return correlation.Session{}, err
	}
	return s.Get(ctx, row)
}

// Number returns the number that a session has in the events of a process, which opens it if it has none.
func Number(ctx context.Context, s *correlation.Store, process string, session int64) (int, error) {
	n, _, err := numbers(ctx, s, process, session)
	if err != nil || n != 0 {
		return n, err
	}
	v, err := s.Get(ctx, session)
	if err == nil {
		_, err = Session(ctx, s, correlation.OpenSession{Harness: v.Harness, ACPID: v.ACPID, Process: process})
	}
	if err != nil {
		return 0, err
	}
	n, _, err = numbers(ctx, s, process, session)
	return n, err
}

// numbers returns the number of a session in the events of a process (0: none), and the first that is free.
func numbers(ctx context.Context, s *correlation.Store, process string, session int64) (known, free int, err error) {
	for free = 1; ; free++ {
		row, err := s.EventSession(ctx, process, free)
		switch {
		case errors.Is(err, correlation.ErrNotFound):
			return known, free, nil
		case err != nil:
			return 0, 0, err
		case row == session:
			known = free
		}
	}
}

// freeTurn returns the first number that no turn of a process has.
func freeTurn(ctx context.Context, s *correlation.Store, process string) (free int, err error) {
	err = s.Batch(ctx, process, func(b *correlation.Batch) error {
		for free = 1; ; free++ {
			if err := b.Apply(correlation.Noted{Turn: free}); err != nil {
				return err // which leaves no trace
			}
		}
	})
	if errors.Is(err, correlation.ErrNotFound) {
		err = nil
	}
	return free, err
}

// Save adds turns of a process that have no id, and completes others. One without an end goes on.
func Save(ctx context.Context, s *correlation.Store, turns []correlation.Turn) error {
	added := map[int64][]*correlation.Turn{} // by session
	for i := range turns {
		t := &turns[i]
		n, err := Number(ctx, s, t.Process, t.Session)
		if err != nil {
			return err
		}
		var events []correlation.Event
		if t.ID == 0 {
			added[t.Session] = append(added[t.Session], t)
			if t.Ended.IsZero() {
				free, err := freeTurn(ctx, s, t.Process)
				if err != nil {
					return err
				}
				events = going(*t, n, free)
			}
		}
		err = s.Batch(ctx, t.Process, func(b *correlation.Batch) error {
			if !t.Started.IsZero() {
				b.At(t.Started)
			}
			if events == nil {
				return b.Tell(n, correlation.TurnTold{Whole: *t})
			}
			for _, e := range events {
				if err := b.Apply(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for session, of := range added {
		all, err := s.Book().Turns(ctx, session)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(t correlation.Turn) bool { return t.Process != of[0].Process })
		slices.SortFunc(all, func(a, b correlation.Turn) int { return cmp.Compare(a.ID, b.ID) })
		for i, t := range of {
			t.ID = all[len(all)-len(of)+i].ID
		}
	}
	return nil
}

// going has the events of a turn that goes on.
func going(t correlation.Turn, session, n int) []correlation.Event {
	events := []correlation.Event{
		correlation.TurnBegan{Session: session, Turn: n, Key: t.Key, Delegation: t.Delegation},
		correlation.UserSaid{Turn: n, Text: t.User, Cut: t.Truncated},
		correlation.AssistantSaid{Turn: n, Text: t.Assistant},
	}
	for _, call := range t.Tools {
		events = append(events, correlation.ToolUsed{Turn: n, Tool: call})
	}
	return events
}
