package correlation

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"
)

// An Injection is a line of the ledger: what was inserted, word for word.
type Injection struct {
	ID, Session     int64
	Key             string // the Signet key that it was fetched under; recorded as used
	Kind            string // context, recall, …
	BlockID         string
	Text            string // exactly as the harness got it
	Source          string
	Bytes           int // zero: of Text
	FetchMS, HeldMS int64
	Items           []string // ids of the memories inside
	At              time.Time
	Outcome         string // in flight, kept, refused, doubt
}

// Record adds to the ledger what was inserted without a change of state: recall beside a later prompt.
func (s *Store) Record(ctx context.Context, inj Injection) (int64, error) {
	inj.At, inj.Outcome = s.now(), outcomeKept
	err := s.write(ctx, "recording an injection", func(tx *sql.Tx) (err error) {
		inj.ID, err = insertInjection(ctx, tx, inj)
		return err
	})
	return inj.ID, err
}

func insertInjection(ctx context.Context, tx *sql.Tx, inj Injection) (int64, error) {
	if inj.Bytes == 0 {
		inj.Bytes = len(inj.Text)
	}
	if inj.Items == nil {
		inj.Items = []string{}
	}
	items, err := json.Marshal(inj.Items)
	if err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE session_keys SET used = ? WHERE key = ? AND used = 0`, stamp(inj.At), inj.Key); err != nil {
		return 0, err
	}
	var id int64
	err = tx.QueryRowContext(ctx, `INSERT INTO injections (session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at, outcome, items, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		inj.Session, inj.Key, inj.Kind, inj.BlockID, inj.Source, inj.Bytes, inj.FetchMS, inj.HeldMS, stamp(inj.At), inj.Outcome, string(items), inj.Text).Scan(&id)
	return id, err
}

// Injections gives the ledger of a session, of the sessions that it continues and of those that it was forked from, newest first: the texts
// that its replays may hold.
func (s *Store) Injections(ctx context.Context, id int64) ([]Injection, error) {
	all, err := collect(ctx, s.db, scanInjection, ancestors("continue_of, fork_of")+`
		SELECT id, session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at, outcome, items, text FROM injections
		WHERE session IN ancestors ORDER BY id DESC`, id)
	return all, explain("reading the ledger", err)
}

func scanInjection(row scanner) (inj Injection, err error) {
	var at int64
	var items []byte
	err = row.Scan(&inj.ID, &inj.Session, &inj.Key, &inj.Kind, &inj.BlockID, &inj.Source, &inj.Bytes, &inj.FetchMS, &inj.HeldMS, &at, &inj.Outcome, &items, &inj.Text)
	if err != nil {
		return inj, err
	}
	inj.At = unstamp(at)
	return inj, json.Unmarshal(items, &inj.Items)
}

// ancestors begins a query with the table of a session (the first argument) and those that it came from by the given columns.
func ancestors(by string) string {
	return `WITH RECURSIVE ancestors (id) AS (
		VALUES (?) UNION SELECT s.id FROM sessions s JOIN sessions child ON s.id IN (child.` + strings.ReplaceAll(by, ", ", ", child.") + `) JOIN ancestors a ON a.id = child.id)`
}
