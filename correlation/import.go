package correlation

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// ErrForgotten is a session that a person has had forgotten.
var ErrForgotten = errors.New("it was forgotten")

// maxImport bounds what one transaction of an import writes, in bytes of text.
const maxImport = 64 << 10

// An Import takes in a conversation that somebody else has written down.
type Import struct {
	Session Session
	store   *Store
	process string
	had     map[[sha256.Size]byte]int // how many prompts of the same words its session has that were not met yet
	empty   bool                      // it had none at all
}

// Import begins to take in a conversation. One that is on record already, whoever told of it, is found by its ACP id.
// ErrForgotten.
func (s *Store) Import(ctx context.Context, o OpenSession) (*Import, error) {
	var gone bool
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sessions_forgotten
		WHERE acp_id = ?)`, foldID(o.ACPID)).Scan(&gone)
	if err != nil {
		return nil, sqlite.While("looking for what was forgotten", err)
	}
	if gone {
		return nil, ErrForgotten
	}
	v, err := s.Find(ctx, o.Harness, o.ACPID)
	if errors.Is(err, ErrNotFound) {
		v, err = s.Open(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	known, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (sum [sha256.Size]byte, err error) {
		var user string
		err = row.Scan(&user)
		return digestOf(user), err
	}, ancestors("continue_of")+` SELECT user FROM turns WHERE session IN ancestors`, v.ID)
	if err != nil {
		return nil, sqlite.While("reading turns", err)
	}
	i := &Import{Session: v, store: s, process: o.Process, had: map[[sha256.Size]byte]int{}, empty: len(known) == 0}
	for _, sum := range known {
		i.had[sum]++
	}
	return i, nil
}

// Add takes in turns, ended and in order, and gives how many of them were new: one is there when its session has as
// many prompts of the same words.
func (i *Import) Add(ctx context.Context, turns []Turn) (added int, err error) {
	var batch []Turn
	size := 0
	flush := func() error {
		if err := i.store.SaveTurns(ctx, batch); err != nil {
			return fmt.Errorf("importing turns: %w", err)
		}
		added += len(batch)
		batch, size = batch[:0], 0
		return nil
	}
	for _, t := range turns {
		if sum := digestOf(t.User); i.had[sum] > 0 {
			i.had[sum]--
			continue
		}
		t.Session, t.Process = i.Session.ID, i.process
		batch = append(batch, t)
		if size += len(t.User) + len(t.Assistant); size >= maxImport {
			if err := flush(); err != nil {
				return added, err
			}
		}
	}
	if err := flush(); err != nil || added == 0 || !i.empty {
		return added, err
	}
	return added, i.store.write(ctx, "dating a session", func(tx *sql.Tx) error { // it is as old as what was said in it
		_, err := tx.ExecContext(ctx, `UPDATE sessions SET
			started = (SELECT min(started) FROM turns WHERE session = ?1),
			last_active = (SELECT max(ended) FROM turns WHERE session = ?1)
			WHERE id = ?1`, i.Session.ID)
		return err
	})
}

// Imported gives the sessions that an import brought, by its name (OpenSession.Client).
func (s *Store) Imported(ctx context.Context, client string) ([]int64, error) {
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT id FROM sessions WHERE client = ? ORDER BY id`,
		client)
	return ids, sqlite.While("looking for what was imported", err)
}

// digestOf names what a prompt says, its white space folded.
func digestOf(text string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(strings.Fields(text), " ")))
}
