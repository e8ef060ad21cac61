package correlation

import (
	"context"
	"database/sql"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Keys returns a session's sequence of Signet keys, the current one last.
func (s Book) Keys(ctx context.Context, id int64) ([]string, error) {
	return collect(ctx, s.db, "reading a session's keys", sqlite.One[string],
		`SELECT key FROM session_keys WHERE session = ? ORDER BY n`, id)
}

// EndKey notes that a session-end was sent with key to the daemon at an address, and removes a context that was fetched
// under it. It has ended when no other daemon holds it.
func (s Debts) EndKey(ctx context.Context, key, url string) error {
	ctx, cancel := ownTime(ctx)
	defer cancel()
	return s.write(ctx, "noting a session-end", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE session_keys SET held =
			(SELECT json_group_array(value) FROM json_each(held) WHERE value <> ?) WHERE key = ?`, url, key)
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE session_keys SET ended = ? WHERE key = ? AND held = '[]'`,
				sqlite.Stamp(s.now()), key)
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, dropContexts+`AND context_key = ?`, key)
		}
		return err
	})
}
