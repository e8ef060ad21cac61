package correlation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// ErrForgotten is a session that a person has had forgotten.
var ErrForgotten = errors.New("it was forgotten")

// maxImport bounds what one transaction of an import writes, in bytes of text.
const maxImport = 64 << 10

// An Import takes in a conversation that somebody else has written down.
type Import struct {
	Session Session // its ID is 0 until there is a turn of it
	store   *Store
	open    OpenSession
	had     map[digest]int // how many prompts of the same words its session has that were not met yet
	empty   bool           // it had none at all
}

// Import begins to take in a conversation. One that is on record already, whoever told of it, is found by its ACP id.
// ErrForgotten.
func (s *Store) Import(ctx context.Context, o OpenSession) (*Import, error) {
	ctx = context.WithoutCancel(ctx) // these reads are short, and to watch each for its context costs as much again
	if gone, err := s.IsForgotten(ctx, o.ACPID); err != nil {
		return nil, err
	} else if gone {
		return nil, ErrForgotten
	}
	i := &Import{store: s, open: o, had: map[digest]int{}, empty: true}
	v, err := s.Find(ctx, o.Harness, o.ACPID)
	if errors.Is(err, ErrNotFound) {
		return i, nil
	}
	if err != nil {
		return nil, err
	}
	i.Session = v
	known, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (sum digest, err error) {
		var user string
		err = row.Scan(&user)
		return digestOf(user), err
	}, ancestors("continue_of")+` SELECT user FROM turns WHERE session IN ancestors`, v.ID)
	if err != nil {
		return nil, sqlite.While("reading turns", err)
	}
	for _, sum := range known {
		i.had[sum]++
	}
	i.empty = len(known) == 0
	return i, nil
}

// Fresh gives those of some turns, ended and in order, that are new: one is there when its session has as many prompts
// of the same words. What was forgotten stays so.
func (i *Import) Fresh(ctx context.Context, turns []Turn) (fresh []Turn, err error) {
	gone, err := i.store.forgottenTurns(context.WithoutCancel(ctx), i.open.ACPID, turns)
	if err != nil {
		return nil, err
	}
	for n, t := range turns {
		if sum := digestOf(t.User); i.had[sum] > 0 {
			i.had[sum]--
		} else if !gone[n] {
			fresh = append(fresh, t)
		}
	}
	return fresh, nil
}

// Add takes in those that are new, and gives how many these were.
func (i *Import) Add(ctx context.Context, turns []Turn) (added int, err error) {
	fresh, err := i.Fresh(ctx, turns)
	if err != nil {
		return 0, err
	}
	for added < len(fresh) {
		n, size := added, 0
		for n < len(fresh) && size < maxImport {
			size += len(fresh[n].User) + len(fresh[n].Assistant)
			n++
		}
		if err := i.save(ctx, fresh[added:n]); err != nil {
			return added, err
		}
		added = n
	}
	if added == 0 || !i.empty {
		return added, nil
	}
	return added, i.store.write(ctx, "dating a session", func(tx *sql.Tx) error { // it is as old as what was said in it
		_, err := tx.ExecContext(ctx, `UPDATE sessions SET
			started = (SELECT min(started) FROM turns WHERE session = ?1),
			last_active = (SELECT max(ended) FROM turns WHERE session = ?1)
			WHERE id = ?1`, i.Session.ID)
		return err
	})
}

// save writes turns, and their session before the first of them.
func (i *Import) save(ctx context.Context, turns []Turn) (err error) {
	if i.Session.ID == 0 {
		if i.Session, err = i.store.Open(ctx, i.open); err != nil {
			return err
		}
	}
	for n := range turns {
		turns[n].Session, turns[n].Process = i.Session.ID, i.open.Process
	}
	if err := i.store.SaveTurns(ctx, turns); err != nil {
		return fmt.Errorf("importing turns: %w", err)
	}
	return nil
}

// Imported gives the sessions that an import brought, by its name (OpenSession.Client).
func (s *Store) Imported(ctx context.Context, client string) ([]int64, error) {
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT id FROM sessions WHERE client = ? ORDER BY id`,
		client)
	return ids, sqlite.While("looking for what was imported", err)
}
