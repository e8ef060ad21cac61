package correlation

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// Unlearn takes what the embedded store keeps of turns out of it, in the transaction that deletes them. It may be nil.
type Unlearn func(ctx context.Context, tx *sql.Tx, turns []int64) error

// Forgotten is what went with a session.
type Forgotten struct {
	Sessions []int64
	Turns    int
	Files    []string // transcript files that a worker may have left; the caller removes them
}

// Forget removes a conversation, all sessions that went on in one another, from everywhere: turns, index (unlearn), ledger, keys, stored contexts and
// deliveries, owed ones too. What was deleted is overwritten in the database, and the log that may still hold it is folded in as far as no reader is in the way.
func (s *Store) Forget(ctx context.Context, session int64, unlearn Unlearn) (Forgotten, error) {
	var f Forgotten
	err := s.write(ctx, "forgetting a session", func(tx *sql.Tx) (err error) {
		if _, err := s.freshState(ctx, tx, session); err != nil {
			return err
		}
		if f.Sessions, err = s.conversation(ctx, tx, session); err != nil {
			return err
		}
		f.Turns, f.Files, err = deleteSessions(ctx, tx, f.Sessions, unlearn)
		return err
	})
	if err != nil {
		return Forgotten{}, err
	}
	return f, s.foldLog(ctx)
}

// foldLog writes the write-ahead log into the database and empties it, if no other process is reading.
func (s *Store) foldLog(ctx context.Context) error {
	var busy, logged, folded int
	err := s.db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &logged, &folded)
	if busy != 0 {
		s.log.Info().Int("pages", logged).Msg("the log is still read by another process; it is emptied later")
	}
	return explain("emptying the log", err)
}

// deleteSessions deletes sessions and what hangs on them (ON DELETE CASCADE).
func deleteSessions(ctx context.Context, tx *sql.Tx, sessions []int64, unlearn Unlearn) (turns int, files []string, err error) {
	list, err := json.Marshal(sessions)
	if err != nil {
		return 0, nil, err
	}
	const which = ` IN (SELECT value FROM json_each(?))`
	ids, err := collect(ctx, tx, scanID, `SELECT id FROM turns WHERE session`+which, string(list))
	if err != nil {
		return 0, nil, err
	}
	files, err = collect(ctx, tx, func(row scanner) (name string, err error) {
		err = row.Scan(&name)
		return name, err
	}, `SELECT file FROM deliveries WHERE file <> '' AND session`+which, string(list))
	if err != nil {
		return 0, nil, err
	}
	if unlearn != nil && len(ids) > 0 {
		if err := unlearn(ctx, tx, ids); err != nil {
			return 0, nil, err
		}
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM sessions WHERE id`+which, string(list))
	return len(ids), files, err
}

// PruneOptions say which sessions are old. A session that either rule takes goes.
type PruneOptions struct {
	Before  time.Time // last active before; zero: no rule
	Keep    int       // all but the newest so many; 0: no rule
	DryRun  bool
	Unlearn Unlearn
}

// Pruned is what went, or would go.
type Pruned struct {
	Sessions []Session
	Turns    int
	Files    []string
}

// Prune removes old sessions, never one that a process holds, that still owes something, or whose ledger a newer one needs (it continues it or was forked from it).
func (s *Store) Prune(ctx context.Context, o PruneOptions) (Pruned, error) {
	var p Pruned
	err := s.write(ctx, "pruning sessions", func(tx *sql.Tx) error {
		all, err := collect(ctx, tx, scanSession, `SELECT `+sessionColumns+` FROM sessions s ORDER BY s.last_active DESC, s.id DESC`)
		if err != nil {
			return err
		}
		bound, err := collect(ctx, tx, scanID, `SELECT session FROM attachments
			UNION SELECT session FROM deliveries WHERE done = 0
			UNION SELECT session FROM turns WHERE ended = 0 OR key IN (SELECT key FROM deliveries WHERE done = 0)
				OR process IN (SELECT id FROM processes WHERE ended = 0)`)
		if err != nil {
			return err
		}
		p.Sessions = old(all, bound, o)
		ids := make([]int64, len(p.Sessions))
		for i, v := range p.Sessions {
			ids[i] = v.ID
		}
		if o.DryRun {
			list, err := json.Marshal(ids)
			if err != nil {
				return err
			}
			return tx.QueryRowContext(ctx, `SELECT count(*) FROM turns WHERE session IN (SELECT value FROM json_each(?))`, string(list)).Scan(&p.Turns)
		}
		p.Turns, p.Files, err = deleteSessions(ctx, tx, ids, o.Unlearn)
		return err
	})
	if err != nil {
		return Pruned{}, err
	}
	if o.DryRun || len(p.Sessions) == 0 {
		return p, nil
	}
	return p, s.foldLog(ctx)
}

// old picks from sessions, the last active first, those that the rules take and nothing needs.
func old(sessions []Session, bound []int64, o PruneOptions) []Session {
	needed := make(map[int64]bool)
	for _, id := range bound {
		needed[id] = true
	}
	taken := func(i int) bool {
		return o.Keep > 0 && i >= o.Keep || !o.Before.IsZero() && sessions[i].LastActive.Before(o.Before)
	}
	// A session that stays keeps what it came from, and that what it came from.
	for changed := true; changed; {
		changed = false
		for i, v := range sessions {
			if taken(i) && !needed[v.ID] {
				continue
			}
			for _, from := range []int64{v.ForkOf, v.ContinueOf} {
				if from != 0 && !needed[from] {
					needed[from], changed = true, true
				}
			}
		}
	}
	var picked []Session
	for i, v := range sessions {
		if taken(i) && !needed[v.ID] {
			picked = append(picked, v)
		}
	}
	return picked
}

// Expire removes turns that began before the given time (retention), but none of a living process and none under a key that still owes something.
// Sessions and their ledgers stay. It gives how many turns went.
func (s *Store) Expire(ctx context.Context, before time.Time, unlearn Unlearn) (int, error) {
	var ids []int64
	err := s.write(ctx, "removing old turns", func(tx *sql.Tx) (err error) {
		ids, err = collect(ctx, tx, scanID, `SELECT id FROM turns WHERE started < ? AND ended > 0 AND key NOT IN (SELECT key FROM deliveries WHERE done = 0)
			AND process NOT IN (SELECT id FROM processes WHERE ended = 0)`, stamp(before))
		if err != nil || len(ids) == 0 {
			return err
		}
		if unlearn != nil {
			if err := unlearn(ctx, tx, ids); err != nil {
				return err
			}
		}
		list, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM turns WHERE id IN (SELECT value FROM json_each(?))`, string(list))
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(ids), nil
}
