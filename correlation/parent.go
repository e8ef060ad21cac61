package correlation

import (
	"context"
	"errors"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// NewProcessID makes an id for a process (ProcessInfo.ID).
func NewProcessID() string { return ulid.Make().String() }

// Parent returns the key of the session whose agent has started something in folder cwd, or ErrNotFound. parent is a
// Signet key, which is returned, or a process id. Of the sessions that the process holds it is one with an open turn;
// of several one in that folder, and of these the one that began its turn, or was active, last.
func (s *Store) Parent(ctx context.Context, parent, cwd string) (key string, err error) {
	for _, query := range []string{
		`SELECT key FROM session_keys WHERE key = ?1 AND ?2 = ?2`,
		`SELECT t.key FROM turns t JOIN sessions s ON s.id = t.session WHERE t.process = ?1 AND t.ended = 0
			ORDER BY s.cwd = ?2 DESC, t.id DESC LIMIT 1`,
		`SELECT s.key FROM attachments a JOIN sessions s ON s.id = a.session WHERE a.process = ?1
			ORDER BY s.cwd = ?2 DESC, s.last_active DESC LIMIT 1`,
	} {
		err = orNotFound(s.db.QueryRowContext(ctx, query, parent, cwd).Scan(&key))
		if !errors.Is(err, ErrNotFound) {
			break
		}
	}
	return key, sqlite.While("finding the session that called", err)
}
