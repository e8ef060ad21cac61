package correlation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Usage is what a harness reported as used by a turn, or by its session so far. nil: not reported.
type Usage struct {
	Reporter    string          `json:"reporter"` // update, result, quota
	Input       *int64          `json:"input,omitempty"`
	Output      *int64          `json:"output,omitempty"`
	CachedRead  *int64          `json:"cachedRead,omitempty"`
	CachedWrite *int64          `json:"cachedWrite,omitempty"`
	Thought     *int64          `json:"thought,omitempty"`
	Total       *int64          `json:"total,omitempty"`
	ContextUsed *int64          `json:"contextUsed,omitempty"`
	ContextSize *int64          `json:"contextSize,omitempty"`
	Cost        *float64        `json:"cost,omitempty"`
	Currency    string          `json:"currency,omitempty"`
	Raw         json.RawMessage `json:"raw,omitempty"` // as it was reported
}

// AddUsage stores a report of usage of a session and, unless turn is 0, of a turn.
func (b *Batch) AddUsage(session, turn int64, u Usage) error {
	raw := string(u.Raw)
	if raw == "" {
		raw = "{}"
	}
	_, err := b.tx.ExecContext(b.ctx, `INSERT INTO usage (session, turn, at, reporter, input, output, cached_read,
		cached_write, thought, total, context_used, context_size, cost, currency, raw)
		VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		session, turn, sqlite.Stamp(b.store.now()), u.Reporter, u.Input, u.Output, u.CachedRead, u.CachedWrite,
		u.Thought, u.Total, u.ContextUsed, u.ContextSize, u.Cost, u.Currency, raw)
	return err
}

// A StoredUsage is a row of the table usage.
type StoredUsage struct {
	Session, Turn int64 // rows; Turn 0: of the session
	At            time.Time
	Usage
}

// Usage returns the reports of usage of a session (0: of all) since a time (zero: ever), in order.
func (s *Store) Usage(ctx context.Context, session int64, since time.Time) ([]StoredUsage, error) {
	all, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (u StoredUsage, err error) {
		var at int64
		var raw string
		err = row.Scan(&u.Session, &u.Turn, &at, &u.Reporter, &u.Input, &u.Output, &u.CachedRead, &u.CachedWrite,
			&u.Thought, &u.Total, &u.ContextUsed, &u.ContextSize, &u.Cost, &u.Currency, &raw)
		u.At, u.Raw = sqlite.Unstamp(at), json.RawMessage(raw)
		return u, err
	}, `SELECT session, coalesce(turn, 0), at, reporter, input, output, cached_read, cached_write, thought, total,
		context_used, context_size, cost, currency, raw FROM usage
		WHERE (?1 = 0 OR session = ?1) AND at >= ?2 ORDER BY at, id`, session, sqlite.Stamp(since))
	return all, sqlite.While("reading usage", err)
}

// A Window is how much of a model's window a session takes, in tokens. nil: not reported.
type Window struct{ Used, Size *int64 }

// Windows returns what was reported last of each session's window.
func (s *Store) Windows(ctx context.Context) (map[int64]Window, error) {
	found := map[int64]Window{}
	_, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (_ struct{}, err error) {
		var session int64
		var w Window
		err = row.Scan(&session, &w.Used, &w.Size)
		found[session] = w
		return struct{}{}, err
	}, `SELECT session, context_used, context_size FROM usage WHERE id IN (
		SELECT max(id) FROM usage WHERE context_used IS NOT NULL GROUP BY session)`)
	return found, sqlite.While("reading usage", err)
}
