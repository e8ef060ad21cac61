package correlation

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What delegations ask of the sessions on their two sides.

// OpenTurn returns the row of the turn that the session with a key is in, 0 for none.
func (s Book) OpenTurn(ctx context.Context, key string) (turn int64, err error) {
	return value[int64](ctx, s.db, "looking for the turn under way",
		`SELECT coalesce(max(id), 0) FROM turns WHERE key = ? AND ended = 0 AND ?1 <> ''`, key)
}

// TurnStands returns how a turn has stopped, "" for not yet, and whether the process that it began in still has its
// session open.
func (s Book) TurnStands(ctx context.Context, turn int64) (stop string, open bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT iif(ended > 0, stop, ''), EXISTS (SELECT 1 FROM attachments a
		WHERE a.session = t.session AND a.process = t.process AND a.closed = 0) FROM turns t WHERE id = ?`,
		turn).Scan(&stop, &open)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return stop, open, sqlite.While("looking how a turn stands", err)
}

// Worker returns the session of a child by its ACP id: one that this key has called, else the newest; 0 for none.
func (s Book) Worker(ctx context.Context, acpID, callerKey string) (session int64, err error) {
	session, err = sqlite.Optional[int64](s.db.QueryRowContext(ctx, `SELECT id FROM sessions
		WHERE acp_id = ? AND acp_id <> '' ORDER BY parent_key = ? DESC, id DESC LIMIT 1`, acpID, callerKey))
	return session, sqlite.While("looking for a session", err)
}

// WasInserted reports whether an item whose id contains a text went into any session since a time.
func (s Book) WasInserted(ctx context.Context, item string, since time.Time) (was bool, err error) {
	return value[bool](ctx, s.db, "reading what was inserted", `SELECT EXISTS (SELECT 1 FROM injections
		WHERE at >= ? AND outcome <> ? AND instr(items, ?) > 0)`, sqlite.Stamp(since), WasRefused, item)
}

// KeysOnwards returns the keys of the session that has or had a key, and of all that continue it.
func (s Book) KeysOnwards(ctx context.Context, key string) ([]string, error) {
	return collect(ctx, s.db, "reading keys", sqlite.One[string], `WITH RECURSIVE onwards (id) AS (
			SELECT session FROM session_keys WHERE key = ? AND session IS NOT NULL
			UNION SELECT s.id FROM onwards o JOIN sessions s ON s.continue_of = o.id
			UNION SELECT h.taken_by FROM onwards o JOIN handoffs h ON h.session = o.id AND h.taken_by > 0)
		SELECT key FROM session_keys WHERE session IN onwards`, key)
}

// NoteEvent adds an event to the session that has or had a key; without one it does nothing.
func NoteEvent(ctx context.Context, tx *sql.Tx, key string, e StoredEvent) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO events (at, kind, process, session, turn, data)
		SELECT ?, ?, ?, session, (SELECT id FROM turns WHERE id = ?), ? FROM session_keys
		WHERE key = ? AND session IS NOT NULL`, sqlite.Stamp(e.At), e.Kind, e.Process, e.Turn, string(e.Data), key)
	return err
}

// Parent returns the key of the session whose agent has started something in folder cwd, or ErrNotFound. parent is a
// Signet key, which is returned, or a process id. Of the sessions that the process holds it is one with an open turn;
// of several one in that folder, and of these the one that began its turn, or was active, last.
func (s *Store) Parent(ctx context.Context, parent, cwd string) (key string, err error) {
	for _, query := range []string{
		`SELECT key FROM session_keys WHERE key = ?1 AND session IS NOT NULL AND ?2 = ?2`,
		`SELECT t.key FROM turns t JOIN sessions s ON s.id = t.session WHERE t.process = ?1 AND t.ended = 0
			ORDER BY s.cwd = ?2 DESC, t.id DESC LIMIT 1`,
		`SELECT s.key FROM attachments a JOIN sessions s ON s.id = a.session WHERE a.process = ?1
			AND a.closed = 0 ORDER BY s.cwd = ?2 DESC, s.last_active DESC LIMIT 1`,
	} {
		err = orNotFound(s.db.QueryRowContext(ctx, query, parent, cwd).Scan(&key))
		if !errors.Is(err, ErrNotFound) {
			break
		}
	}
	return key, sqlite.While("finding the session that called", err)
}
