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
func (s *Store) OpenTurn(ctx context.Context, key string) (turn int64, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM turns WHERE key = ? AND ended = 0 AND ?1 <> ''`,
		key).Scan(&turn)
	return turn, sqlite.While("looking for the turn under way", err)
}

// TurnStands returns how a turn has stopped, "" for not yet, and whether the process that it began in still has its
// session open.
func (s *Store) TurnStands(ctx context.Context, turn int64) (stop string, open bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT iif(ended > 0, stop, ''), EXISTS (SELECT 1 FROM attachments a
		WHERE a.session = t.session AND a.process = t.process) FROM turns t WHERE id = ?`, turn).Scan(&stop, &open)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return stop, open, sqlite.While("looking how a turn stands", err)
}

// Worker returns the session of a child by its ACP id: one that this key has called, else the newest; 0 for none.
func (s *Store) Worker(ctx context.Context, acpID, callerKey string) (session int64, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT id FROM sessions WHERE acp_id = ? AND acp_id <> ''
		ORDER BY parent_key = ? DESC, id DESC LIMIT 1`, acpID, callerKey).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return session, sqlite.While("looking for a session", err)
}

// WasInserted reports whether an item whose id contains a text went into any session since a time.
func (s *Store) WasInserted(ctx context.Context, item string, since time.Time) (was bool, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM injections
		WHERE at >= ? AND outcome <> ? AND instr(items, ?) > 0)`, sqlite.Stamp(since), WasRefused, item).Scan(&was)
	return was, sqlite.While("reading what was inserted", err)
}

// KeysOnwards returns the keys of the session that has or had a key, and of all that continue it.
func (s *Store) KeysOnwards(ctx context.Context, key string) ([]string, error) {
	keys, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `WITH RECURSIVE onwards (id) AS (
			SELECT session FROM session_keys WHERE key = ?
			UNION SELECT s.id FROM onwards o JOIN sessions s ON s.continue_of = o.id
			UNION SELECT h.taken_by FROM onwards o JOIN handoffs h ON h.session = o.id AND h.taken_by > 0)
		SELECT key FROM session_keys WHERE session IN onwards`, key)
	return keys, sqlite.While("reading keys", err)
}

// NoteEvent adds an event to the session that has or had a key; without one it does nothing.
func NoteEvent(ctx context.Context, tx *sql.Tx, key string, e StoredEvent) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO events (at, kind, process, session, turn, data)
		SELECT ?, ?, ?, session, (SELECT id FROM turns WHERE id = ?), ? FROM session_keys WHERE key = ?`,
		sqlite.Stamp(e.At), e.Kind, e.Process, e.Turn, string(e.Data), key)
	return err
}
