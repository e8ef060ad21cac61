package correlation

import (
	"context"
	"database/sql"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// noContext are the columns of a session without a stored context. dropContexts begins a statement that takes contexts
// out of sessions; it names the condition by whose index those that have one are found.
const (
	noContext    = `context_key = '', context_at = 0, context = NULL`
	dropContexts = `UPDATE sessions SET ` + noContext + ` WHERE context_at > 0 `
)

// TakeContext removes and returns the session's stored context, with the key that it was fetched under; of two
// processes one gets it. A context older than maxAge is only removed: ErrNotFound.
func (s *Store) TakeContext(
	ctx context.Context, id int64, maxAge time.Duration,
) (payload []byte, key string, err error) {
	const doing = "taking a stored context"
	var at int64
	err = s.write(ctx, doing, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT context, context_key, context_at FROM sessions
			WHERE id = ? AND context_at > 0`, id).Scan(&payload, &key, &at)
		if err == nil {
			_, err = tx.ExecContext(ctx, dropContexts+`AND id = ?`, id)
		}
		return orNotFound(err)
	})
	if err == nil && at < sqlite.Stamp(s.now().Add(-maxAge)) {
		err = sqlite.While(doing, ErrNotFound)
	}
	if err != nil {
		return nil, "", err
	}
	return payload, key, nil
}

// DropContexts removes stored contexts that are older than maxAge: no process of their session came to take them.
func (s *Store) DropContexts(ctx context.Context, maxAge time.Duration) error {
	const doing = "removing old contexts"
	before := sqlite.Stamp(s.now().Add(-maxAge))
	var any bool // a change that finds nothing still waits for the lock
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sessions WHERE context_at > 0 AND context_at < ?)`,
		before).Scan(&any)
	if err != nil || !any {
		return sqlite.While(doing, err)
	}
	return s.change(ctx, doing, dropContexts+`AND context_at < ?`, before)
}

// DropContexts removes the stored contexts that contain a text.
func DropContexts(ctx context.Context, tx *sql.Tx, text string) error {
	_, err := tx.ExecContext(ctx, dropContexts+`AND instr(CAST(context AS TEXT), ?) > 0`, text)
	return err
}
