package correlation

import (
	"context"
	"database/sql"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// TakeContext removes and returns the session's stored context, with the key that it was fetched under; of two
// processes one gets it. A context older than maxAge is only removed: ErrNotFound.
func (s *Store) TakeContext(
	ctx context.Context, id int64, maxAge time.Duration,
) (payload []byte, key string, err error) {
	err = s.write(ctx, "taking a stored context", func(tx *sql.Tx) error {
		var at int64
		err := tx.QueryRowContext(ctx, `DELETE FROM stored_contexts WHERE session = ? RETURNING payload, key, at`,
			id).Scan(&payload, &key, &at)
		if err != nil {
			return orNotFound(err)
		}
		if at < sqlite.Stamp(s.now().Add(-maxAge)) {
			payload, key = nil, ""
		}
		return nil
	})
	if err == nil && payload == nil {
		err = sqlite.While("taking a stored context", ErrNotFound)
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
	var any bool // a delete that finds nothing still waits for the lock
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM stored_contexts WHERE at < ?)`, before).Scan(&any)
	if err != nil || !any {
		return sqlite.While(doing, err)
	}
	return s.write(ctx, doing, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM stored_contexts WHERE at < ?`, before)
		return err
	})
}
