package correlation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// ErrForgotten is an error of Import: a person has had the session forgotten.
var ErrForgotten = errors.New("it was forgotten")

// maxImport is how many bytes of text one transaction of an import writes, give or take a turn.
const maxImport = 64 << 10

// An Import adds a conversation from another program's transcript.
type Import struct {
	Session Session // ID is 0 until a turn of it was added
	store   *Store
	open    OpenSession
	known   map[digest]int // how many turns with this prompt its session had, less those that NewTurns has met
	empty   bool           // its session had no turns
}

// Import begins to import a conversation. If its session is stored already, from whatever source, it is found by its
// ACP id. The error is ErrForgotten if a person has had it forgotten.
func (s *Store) Import(ctx context.Context, o OpenSession) (*Import, error) {
	ctx = context.WithoutCancel(ctx) // these reads are short, and watching the context would double their cost
	if gone, err := s.IsForgotten(ctx, o.ACPID); err != nil {
		return nil, err
	} else if gone {
		return nil, ErrForgotten
	}
	i := &Import{store: s, open: o, known: map[digest]int{}, empty: true}
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
		i.known[sum]++
	}
	i.empty = len(known) == 0
	return i, nil
}

// NewTurns returns those of turns, which have ended and are in order, that the session does not have and that were not
// forgotten. A turn counts as stored for each stored one with the same prompt.
func (i *Import) NewTurns(ctx context.Context, turns []Turn) (fresh []Turn, err error) {
	gone, err := i.store.forgottenTurns(context.WithoutCancel(ctx), i.open.ACPID, turns)
	if err != nil {
		return nil, err
	}
	for n, t := range turns {
		if sum := digestOf(t.User); i.known[sum] > 0 {
			i.known[sum]--
		} else if !gone[n] {
			fresh = append(fresh, t)
		}
	}
	return fresh, nil
}

// Add stores those turns that are new, and returns how many they were, also after an error.
func (i *Import) Add(ctx context.Context, turns []Turn) (added int, err error) {
	fresh, err := i.NewTurns(ctx, turns)
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

// save stores turns, and their session before the first of them.
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

// Imported returns the sessions that an import has made, by the name that it goes by (OpenSession.Client).
func (s *Store) Imported(ctx context.Context, client string) ([]int64, error) {
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT id FROM sessions WHERE client = ? ORDER BY id`,
		client)
	return ids, sqlite.While("looking for what was imported", err)
}
