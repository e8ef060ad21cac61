package correlation

import (
	"context"
	"database/sql"
	"time"
)

// A SessionKey is one of a session's Signet keys.
type SessionKey struct {
	Key                           string
	Session                       int64
	Created, Started, Used, Ended time.Time // zero: not yet
}

func scanKey(row scanner) (k SessionKey, err error) {
	var created, started, used, ended int64
	err = row.Scan(&k.Key, &k.Session, &created, &started, &used, &ended)
	k.Created, k.Started, k.Used, k.Ended = unstamp(created), unstamp(started), unstamp(used), unstamp(ended)
	return k, err
}

// addKey makes key the last of a session's sequence, taking it from the session that had it.
func addKey(ctx context.Context, tx *sql.Tx, session int64, key string, now int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO session_keys (key, session, n, created)
		VALUES (?1, ?2, (SELECT coalesce(max(n), 0) + 1 FROM session_keys WHERE session = ?2), ?3)
		ON CONFLICT (key) DO UPDATE SET session = excluded.session, n = excluded.n`, key, session, now)
	return err
}

// Rekey gives a session a new current key; the old ones stay in its sequence.
func (s *Store) Rekey(ctx context.Context, id int64, key string) error {
	return s.write(ctx, "giving a session a new key", func(tx *sql.Tx) error {
		if err := mustHit(ctx, tx, ErrNotFound, `UPDATE sessions SET key = ? WHERE id = ?`, key, id); err != nil {
			return err
		}
		return addKey(ctx, tx, id, key, stamp(s.now()))
	})
}

// Keys gives a session's sequence of keys, the current one last.
func (s *Store) Keys(ctx context.Context, id int64) ([]SessionKey, error) {
	all, err := collect(ctx, s.db, scanKey, `SELECT key, session, created, started, used, ended FROM session_keys WHERE session = ? ORDER BY n`, id)
	return all, explain("reading a session's keys", err)
}

// StartKey notes that a session-start is being sent with key. Whatever comes back, the daemon may know the key from then on.
func (s *Store) StartKey(ctx context.Context, key string) error {
	return s.change(ctx, "noting a session-start", ErrNotFound, `UPDATE session_keys SET started = ? WHERE key = ?`, stamp(s.now()), key)
}

// EndKey notes that a session-end is being sent with key, and drops a context that was stored under it. Of several callers one gets true.
func (s *Store) EndKey(ctx context.Context, key string) (bool, error) {
	first := false
	err := s.write(ctx, "noting a session-end", func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `UPDATE session_keys SET ended = ? WHERE key = ? AND ended = 0`, stamp(s.now()), key)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		if err != nil {
			return err
		}
		first = n > 0
		_, err = tx.ExecContext(ctx, `DELETE FROM stored_contexts WHERE key = ?`, key)
		return err
	})
	return first && err == nil, err
}

// StaleKeys gives keys that were started longer than maxAge ago and never used nor ended, and under which nothing was said: the daemon keeps
// them among its live sessions until it gets a session-end. The current key of a session that a living process holds is not among them. There are none
// where this process owes the daemon nothing; and one that could not be ended in 14 days is given up, like a delivery.
func (p *Process) StaleKeys(ctx context.Context, maxAge time.Duration) ([]SessionKey, error) {
	const doing = "looking for unused keys"
	s := p.store
	info, err := processByID(ctx, s.db, p.id)
	if err != nil {
		return nil, explain(doing, err)
	}
	if owes, err := s.owesDaemon(ctx, s.db, info); err != nil || !owes {
		return nil, explain(doing, err)
	}
	now := s.now()
	all, err := collect(ctx, s.db, scanKey, `SELECT key, session, created, started, used, ended FROM session_keys k
		WHERE started > ? AND used = 0 AND ended = 0 AND started < ? AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.key = k.key) ORDER BY started`,
		stamp(now.Add(-giveUp)), stamp(now.Add(-maxAge)))
	if err != nil || len(all) == 0 {
		return nil, explain(doing, err)
	}
	live, err := s.liveSessions(ctx)
	if err != nil {
		return nil, explain(doing, err)
	}
	stale := all[:0]
	for _, k := range all {
		if live[k.Session] {
			session, err := s.Get(ctx, k.Session)
			if err != nil {
				return nil, err
			}
			if session.Key == k.Key {
				continue
			}
		}
		stale = append(stale, k)
	}
	return stale, nil
}

// SaveContext stores a context that was fetched under key at the given time and not used, for the session's next process. It replaces an older one.
func (s *Store) SaveContext(ctx context.Context, id int64, key string, payload []byte, at time.Time) error {
	if payload == nil {
		payload = []byte{}
	}
	return s.change(ctx, "storing a context", ErrNotFound, `INSERT INTO stored_contexts (session, key, at, payload) SELECT id, ?, ?, ? FROM sessions WHERE id = ?
		ON CONFLICT (session) DO UPDATE SET key = excluded.key, at = excluded.at, payload = excluded.payload`, key, stamp(at), payload, id)
}

// TakeContext removes and gives the session's stored context; of two processes one gets it. One older than maxAge is removed too and not given: ErrNotFound.
func (s *Store) TakeContext(ctx context.Context, id int64, maxAge time.Duration) (payload []byte, key string, err error) {
	err = s.write(ctx, "taking a stored context", func(tx *sql.Tx) error {
		var at int64
		err := tx.QueryRowContext(ctx, `DELETE FROM stored_contexts WHERE session = ? RETURNING payload, key, at`, id).Scan(&payload, &key, &at)
		if err != nil {
			return orNotFound(err)
		}
		if at < stamp(s.now().Add(-maxAge)) {
			payload, key = nil, ""
		}
		return nil
	})
	if err == nil && payload == nil {
		err = explain("taking a stored context", ErrNotFound)
	}
	if err != nil {
		return nil, "", err
	}
	return payload, key, nil
}

// DropContexts removes stored contexts that are older than maxAge: no process of their session came to take them.
func (s *Store) DropContexts(ctx context.Context, maxAge time.Duration) error {
	const doing = "removing old contexts"
	before := stamp(s.now().Add(-maxAge))
	var any bool // a delete that finds nothing still waits for the lock
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM stored_contexts WHERE at < ?)`, before).Scan(&any)
	if err != nil || !any {
		return explain(doing, err)
	}
	return s.write(ctx, doing, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM stored_contexts WHERE at < ?`, before)
		return err
	})
}
