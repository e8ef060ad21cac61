package correlation

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Unlearn removes what the embedded store has learned from turns, in the transaction that deletes them. It may be nil.
type Unlearn func(ctx context.Context, tx *sql.Tx, turns []int64) error

// Removed is what Forget or Prune has removed, or would remove.
type Removed struct {
	Sessions []int64
	Turns    int
	Debts    []int64 // of which a worker may have left transcripts, for the caller to remove
}

// Forget removes a conversation, that is all sessions that continue one another and those of its subagents that an
// import has brought, from everywhere: turns, the search index (unlearn), injections, keys, stored contexts and
// deliveries, also those that are owed. What is deleted is overwritten in the database; Checkpoint removes it from the
// write-ahead log.
func (s *Store) Forget(ctx context.Context, session int64, unlearn Unlearn) (Removed, error) {
	var f Removed
	err := s.write(ctx, "forgetting a session", func(tx *sql.Tx) (err error) {
		if _, err := s.freshState(ctx, tx, session); err != nil {
			return err
		}
		if f.Sessions, err = s.conversation(ctx, tx, session); err != nil {
			return err
		}
		f.Sessions, err = sqlite.Collect(ctx, tx, sqlite.One[int64], `WITH RECURSIVE
			of (id) AS (SELECT value FROM json_each(?) UNION
				SELECT s.id FROM of JOIN session_keys k ON k.session = of.id
				JOIN sessions s ON s.parent_key = k.key AND s.client LIKE 'backfill:%')
			SELECT id FROM of`, sqlite.List(f.Sessions))
		if err != nil {
			return err
		}
		f.Turns, f.Debts, err = deleteSessions(ctx, tx, f.Sessions, unlearn)
		return err
	})
	if err != nil {
		return Removed{}, err
	}
	return f, nil
}

// Settle brings all that was written into the database's file and to the disk itself, so that neither a power cut nor
// the loss of the write-ahead log costs any of it. The error is sqlite.ErrBusy while others read what was there before.
func (s *Store) Settle(ctx context.Context) error {
	var busy, logged, done int
	err := s.db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &logged, &done)
	if err == nil && (busy != 0 || logged != done) {
		err = sqlite.ErrBusy
	}
	return sqlite.While("bringing the log into the database", err)
}

// checkpointLimit is how long Checkpoint may hold up other processes' writes while it waits for their reads.
const checkpointLimit = 50 * time.Millisecond

// Checkpoint writes the write-ahead log into the database and empties it. If another process keeps reading, a later
// checkpoint empties the log, and that is no error. The work itself has no time limit: until it is done, what was
// forgotten is still in the file.
func (s *Store) Checkpoint(ctx context.Context) error {
	ctx = sqlite.WithLockWait(ctx, checkpointLimit)
	var busy, logged, folded int
	err := sqlite.Explain(s.db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &logged, &folded))
	if busy != 0 || errors.Is(err, sqlite.ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
		s.log.Info().Int("pages", logged).Msg("the log is still read by another process; it is emptied later")
		return nil
	}
	return sqlite.While("emptying the log", err)
}

// deleteSessions deletes sessions and the rows that refer to them (ON DELETE CASCADE).
func deleteSessions(
	ctx context.Context, tx *sql.Tx, sessions []int64, unlearn Unlearn,
) (turns int, debts []int64, err error) {
	list := sqlite.List(sessions)
	const which = ` IN (SELECT value FROM json_each(?))`
	ids, err := sqlite.Collect(ctx, tx, sqlite.One[int64], `SELECT id FROM turns WHERE session`+which, list)
	if err != nil {
		return 0, nil, err
	}
	debts, err = sqlite.Collect(ctx, tx, sqlite.One[int64], `SELECT id FROM debts WHERE session`+which, list)
	if err != nil {
		return 0, nil, err
	}
	if unlearn != nil && len(ids) > 0 {
		if err := unlearn(ctx, tx, ids); err != nil {
			return 0, nil, err
		}
	}
	if err := noteForgotten(ctx, tx, sqlite.List(ids)); err != nil {
		return 0, nil, err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR IGNORE INTO forgotten (kind, what)
		SELECT 'session', acp_id
		FROM (SELECT id, acp_id FROM sessions UNION ALL SELECT session, acp_id FROM session_aliases)
		WHERE length(acp_id) >= ? AND id`+which, minLoneID, list)
	if err != nil {
		return 0, nil, err
	}
	// what was refused, and may be of one of them; what names one goes with it
	_, err = tx.ExecContext(ctx, `DELETE FROM events WHERE kind = ? AND session IS NULL AND process IN (
		SELECT process FROM turns WHERE session`+which+`)`, kindRefused, list)
	if err != nil {
		return 0, nil, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM sessions WHERE id`+which, list)
	return len(ids), debts, err
}

// PruneOptions say which sessions are old: those that either rule matches.
type PruneOptions struct {
	Before  time.Time // sessions that were last active before; zero: no rule
	Keep    int       // all but so many of the newest; 0: no rule
	DryRun  bool      // remove nothing
	Unlearn Unlearn
	Done    func(sessions int) // is told how many are looked at that match; may be nil
}

// inUse selects the sessions that must not be pruned: a process holds them, a turn is under way in them, or they still
// owe something.
const inUse = `SELECT session FROM attachments WHERE closed = 0
	UNION SELECT session FROM debts WHERE done = 0
	UNION SELECT session FROM turns WHERE ended = 0
	UNION SELECT session FROM turns WHERE key IN (SELECT key FROM debts WHERE done = 0)
	UNION SELECT session FROM turns WHERE process IN (SELECT id FROM processes WHERE ended = 0)`

// Prune removes old sessions, but none that a process holds, that still owes something, or that a session which stays
// continues or was forked from. Transactions are short, so that no prompt waits for all of them. After an error, or
// once ctx ends, it returns what was removed until then; the next call removes the rest. Checkpoint removes it from the
// write-ahead log.
func (s *Store) Prune(ctx context.Context, o PruneOptions) (p Removed, err error) {
	const doing = "pruning sessions"
	all, err := sqlite.Collect(ctx, s.db, scanSession, `SELECT `+sessionColumns+` FROM sessions s
		ORDER BY s.last_active DESC, s.id DESC`)
	if err != nil {
		return p, sqlite.While(doing, err)
	}
	stay, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], inUse)
	if err != nil {
		return p, sqlite.While(doing, err)
	}
	picked := pick(all, stay, o)
	// a session's forks and successors are removed before it
	slices.SortFunc(picked, func(v, w Session) int { return cmp.Compare(w.ID, v.ID) })
	if o.DryRun {
		for _, v := range picked {
			p.Sessions = append(p.Sessions, v.ID)
		}
		p.Turns, err = value[int](ctx, s.db, doing, `SELECT count(*) FROM turns
			WHERE session IN (SELECT value FROM json_each(?))`, sqlite.List(p.Sessions))
		return p, err
	}
	for at := 0; at < len(picked); {
		var gone Removed
		var looked int
		err := s.write(ctx, doing, func(tx *sql.Tx) (err error) {
			gone, looked, err = pruneSome(ctx, tx, picked[at:], o.Unlearn)
			return err
		})
		if err != nil {
			return p, err
		}
		at += looked
		p.Sessions, p.Turns = append(p.Sessions, gone.Sessions...), p.Turns+gone.Turns
		p.Debts = append(p.Debts, gone.Debts...)
		if o.Done != nil {
			o.Done(at)
		}
	}
	return p, nil
}

// pruneTime is how long a transaction of a pruning takes more sessions: a prompt may wait for it. They share what is
// written of the search index.
const pruneTime = 50 * time.Millisecond

// pruneSome removes the first of some sessions, unless they came into use since they were read. looked is at how many.
func pruneSome(ctx context.Context, tx *sql.Tx, all []Session, unlearn Unlearn) (gone Removed, looked int, err error) {
	for began := time.Now(); looked < len(all) && (looked == 0 || time.Since(began) < pruneTime); looked++ {
		v := all[looked]
		var idle bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?1 AND last_active = ?2)
			AND NOT EXISTS (SELECT 1 FROM sessions WHERE fork_of = ?1)
			AND NOT EXISTS (SELECT 1 FROM sessions WHERE continue_of = ?1)
			AND NOT EXISTS (SELECT 1 FROM attachments WHERE session = ?1 AND closed = 0)`,
			v.ID, sqlite.Stamp(v.LastActive)).Scan(&idle)
		if err != nil {
			return gone, looked, err
		}
		if !idle {
			continue
		}
		turns, debts, err := deleteSessions(ctx, tx, []int64{v.ID}, unlearn)
		if err != nil {
			return gone, looked, err
		}
		gone.Sessions, gone.Turns = append(gone.Sessions, v.ID), gone.Turns+turns
		gone.Debts = append(gone.Debts, debts...)
	}
	return gone, looked, nil
}

// pick returns those of sessions, which come the last active first, that the rules match and that need not stay.
func pick(sessions []Session, stay []int64, o PruneOptions) []Session {
	byID := make(map[int64]Session, len(sessions))
	for _, v := range sessions {
		byID[v.ID] = v
	}
	needed := make(map[int64]bool)
	var keep func(id int64) // with those that it came from, and so on
	keep = func(id int64) {
		if id != 0 && !needed[id] {
			needed[id] = true
			keep(byID[id].ForkOf)
			keep(byID[id].ContinueOf)
		}
	}
	for _, id := range stay {
		keep(id)
	}
	taken := func(i int) bool {
		return o.Keep > 0 && i >= o.Keep || !o.Before.IsZero() && sessions[i].LastActive.Before(o.Before)
	}
	for i, v := range sessions {
		if !taken(i) {
			keep(v.ID)
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

// expireAtOnce is how many turns are removed in one transaction, for which a prompt waits: 2 ms each, with what was
// learned from them.
const expireAtOnce = 10

// Expire removes turns that began before the given time (retention), and events from before it. It spares turns of
// living processes, turns under a key that still owes something, and turns whose key was made later: a conversation
// that is imported is kept for as long as one that was said on the day of the import. Sessions and their injections
// stay. It returns how many turns were removed, also after an error. In a context of pace.Gently it pauses between
// transactions.
func (s *Store) Expire(ctx context.Context, before time.Time, unlearn Unlearn) (int, error) {
	for gone := 0; ; {
		began := time.Now()
		n, err := s.expireSome(ctx, before, unlearn)
		if gone += n; err != nil {
			return gone, err
		}
		if n < expireAtOnce {
			return gone, s.expireEvents(ctx, before)
		}
		pace.Pause(ctx, began)
	}
}

func (s *core) expireSome(ctx context.Context, before time.Time, unlearn Unlearn) (int, error) {
	const old = `SELECT id FROM turns WHERE started < ?1 AND ended > 0
		AND key NOT IN (SELECT key FROM debts WHERE done = 0)
		AND process NOT IN (SELECT id FROM processes WHERE ended = 0)
		AND NOT EXISTS (SELECT 1 FROM session_keys k WHERE k.key = turns.key AND k.created >= ?1) LIMIT ?2`
	ids, err := sqlite.Collect(ctx, s.db, sqlite.One[int64], old, sqlite.Stamp(before), 1) // to look takes no lock
	if err != nil || len(ids) == 0 {
		return 0, sqlite.While("looking for old turns", err)
	}
	err = s.write(ctx, "removing old turns", func(tx *sql.Tx) (err error) {
		if ids, err = sqlite.Collect(ctx, tx, sqlite.One[int64], old, sqlite.Stamp(before), expireAtOnce); err != nil ||
			len(ids) == 0 {
			return err
		}
		if unlearn != nil {
			if err := unlearn(ctx, tx, ids); err != nil {
				return err
			}
		}
		list := sqlite.List(ids)
		if err := noteForgotten(ctx, tx, list); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM turns WHERE id IN (SELECT value FROM json_each(?))`, list)
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(ids), nil
}
