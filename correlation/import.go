package correlation

import (
	"context"
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

// Import takes in turns of a conversation that somebody else has written down, ended and in order, and gives its
// session and how many of them were new. One that is on record already, whoever told of it, is found by its ACP id, and
// gets only the turns that it lacks: one is there when its session has as many prompts of the same words. ErrForgotten.
func (s *Store) Import(ctx context.Context, o OpenSession, turns []Turn) (v Session, added int, err error) {
	var gone bool
	err = s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sessions_forgotten
		WHERE acp_id = ?)`, foldID(o.ACPID)).Scan(&gone)
	if err != nil {
		return v, 0, sqlite.While("looking for what was forgotten", err)
	}
	if gone {
		return v, 0, ErrForgotten
	}
	v, err = s.Find(ctx, o.Harness, o.ACPID)
	if errors.Is(err, ErrNotFound) {
		v, err = s.Open(ctx, o)
	}
	if err != nil {
		return v, 0, err
	}
	known, err := s.Turns(ctx, v.ID)
	if err != nil {
		return v, 0, err
	}
	had := map[string]int{}
	for _, t := range known {
		had[folded(t.User)]++
	}
	var batch []Turn
	size := 0
	flush := func() error {
		err := s.SaveTurns(ctx, batch)
		batch, size = batch[:0], 0
		return err
	}
	for _, t := range turns {
		if words := folded(t.User); had[words] > 0 {
			had[words]--
			continue
		}
		t.Session, t.Process = v.ID, o.Process
		batch = append(batch, t)
		added++
		if size += len(t.User) + len(t.Assistant); size >= maxImport {
			if err := flush(); err != nil {
				return v, 0, fmt.Errorf("importing turns: %w", err)
			}
		}
	}
	if err := flush(); err != nil {
		return v, 0, fmt.Errorf("importing turns: %w", err)
	}
	if added > 0 && len(known) == 0 { // it is as old as what was said in it
		err = s.write(ctx, "dating a session", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE sessions SET
				started = (SELECT min(started) FROM turns WHERE session = ?1),
				last_active = (SELECT max(ended) FROM turns
				WHERE session = ?1)
				WHERE id = ?1`, v.ID)
			return err
		})
	}
	return v, added, err
}

// Imported gives the sessions that an import brought, by its name (OpenSession.Client).
func (s *Store) Imported(ctx context.Context, client string) ([]int64, error) {
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], `SELECT id FROM sessions WHERE client = ? ORDER BY id`,
		client)
	return ids, sqlite.While("looking for what was imported", err)
}

// folded is a text with its white space folded.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }
