package correlation

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// An Injection is a row of the ledger of injections: what was inserted, word for word.
type Injection struct {
	ID      int64     `json:"-"`
	Session int64     `json:"-"`
	Key     string    `json:"key,omitempty"` // the Signet key under which it was fetched, and which counts as used
	Kind    string    `json:"kind"`          // context, recall, …
	BlockID string    `json:"blockId"`
	Text    string    `json:"text,omitempty"` // exactly as the harness got it
	Source  string    `json:"source"`
	Bytes   int       `json:"bytes"` // zero: of Text
	FetchMS int64     `json:"fetchMs"`
	HeldMS  int64     `json:"heldMs"`
	CutMS   int64     `json:"cutMs,omitempty"` // after which the search of memory was cut off; 0: it was not
	Items   []string  `json:"items,omitempty"` // ids of the memories inside
	At      time.Time `json:"-"`
	Outcome Outcome   `json:"outcome,omitempty"`
	Title   string    `json:"-"` // TitleHash of a title that was made from it alone; "" for none
}

// TitleHash is what is stored of a title that a harness has made from a block alone.
func TitleHash(title string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(title))) }

// SetTitle notes a title that a harness has made from a block alone, by its TitleHash.
func (s *Store) SetTitle(ctx context.Context, session int64, blockID, hash string) error {
	return s.mustChange(ctx, "noting a title", ErrNotFound,
		`UPDATE injections SET title = ? WHERE session = ? AND block_id = ?`, hash, session, blockID)
}

func insertInjection(ctx context.Context, tx *sql.Tx, inj Injection) (int64, error) {
	if inj.Bytes == 0 {
		inj.Bytes = len(inj.Text)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE session_keys SET used = ? WHERE key = ? AND used = 0`,
		sqlite.Stamp(inj.At), inj.Key); err != nil {
		return 0, err
	}
	var id int64
	err := tx.QueryRowContext(ctx, `INSERT INTO injections (session, key, kind, block_id, source, bytes, fetch_ms,
		held_ms, cut_ms, at, outcome, items, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		inj.Session, inj.Key, inj.Kind, inj.BlockID, inj.Source, inj.Bytes, inj.FetchMS, inj.HeldMS, inj.CutMS,
		sqlite.Stamp(inj.At), inj.Outcome, sqlite.List(inj.Items), inj.Text).Scan(&id)
	return id, err
}

// Injections returns the injections of a session, of those that it continues and of those that it was forked from,
// newest first: the texts that its replays may hold.
func (s *core) Injections(ctx context.Context, id int64) ([]Injection, error) {
	return collect(ctx, s.db, "reading the ledger", scanInjection, ancestors("continue_of, fork_of")+`
		SELECT `+injectionColumns+`, text FROM injections WHERE session IN ancestors ORDER BY id DESC`, id)
}

const injectionColumns = `id, session, key, kind, block_id, source, bytes, fetch_ms, held_ms, cut_ms, at, outcome,
	items, title`

// scanInjection reads injectionColumns and a text.
func scanInjection(row sqlite.Row) (inj Injection, err error) {
	var at int64
	var items []byte
	err = row.Scan(&inj.ID, &inj.Session, &inj.Key, &inj.Kind, &inj.BlockID, &inj.Source, &inj.Bytes, &inj.FetchMS,
		&inj.HeldMS, &inj.CutMS, &at, &inj.Outcome, &items, &inj.Title, &inj.Text)
	if err != nil {
		return inj, err
	}
	inj.At = sqlite.Unstamp(at)
	return inj, json.Unmarshal(items, &inj.Items)
}

// ancestors begins a query with the table ancestors: a session (the first argument) and those that it came from by the
// given columns.
func ancestors(by string) string {
	columns := "child." + strings.ReplaceAll(by, ", ", ", child.")
	return `WITH RECURSIVE ancestors (id) AS (
		VALUES (?) UNION SELECT s.id FROM sessions s JOIN sessions child ON s.id IN (` + columns + `)
		JOIN ancestors a ON a.id = child.id)`
}
