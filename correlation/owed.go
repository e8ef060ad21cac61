package correlation

import (
	"context"
	"database/sql"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Memory modes in which sessions may owe the daemon something (docs/architecture.md, "After a session").
const (
	memoryAuto   = "auto"
	memoryDaemon = "daemon"
)

// daemonExpected is how long a daemon that has answered is expected to come back.
const daemonExpected = 14 * 24 * time.Hour

// OweMemory leaves a delivery for a memory that a tool has stored, under a session's key. The payload is the caller's
// format. owed is false if this process owes the daemon nothing. The error is ErrNotFound for a key that no session
// has.
func (p *Process) OweMemory(ctx context.Context, key, payload string) (owed bool, err error) {
	return p.owe(ctx, "leaving a memory", func(tx *sql.Tx, info ProcessInfo, now int64) (bool, error) {
		return true, sqlite.MustHit(ctx, tx, ErrNotFound, `INSERT INTO debts (session, key, kind, reason, url,
			state, created, owed, due, payload)
			SELECT session, key, ?1, '', ?2, ?3, ?4, ?4, ?4, ?5 FROM session_keys
			WHERE key = ?6 AND session IS NOT NULL`,
			KindMemory, info.URL, Owed, now, payload, key)
	})
}

// oweText leaves a delivery of a text for a session: of d its Kind, Reason, URL, HookCommand and Payload.
func oweText(ctx context.Context, tx *sql.Tx, session, now int64, d Debt) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO debts (session, key, kind, reason, url, agent_id, hook_command, state,
		created, owed, due, payload)
		SELECT id, key, ?1, ?2, ?3, agent_id, ?4, ?5, ?6, ?6, ?6, ?7 FROM sessions WHERE id = ?8`,
		d.Kind, d.Reason, d.URL, commandText(d.HookCommand), Owed, now, d.Payload, session)
	return err
}

// Reasons of deliveries that no end of a process gives.
const (
	SoFar      = "so far" // the session goes on
	AfterNotes = "notes"  // an agent has noted what was decided in it
)

// OweSoFar leaves a delivery for the turns under a key until now, if this process owes the daemon anything; the session
// goes on. owed is false if there is nothing new.
func (p *Process) OweSoFar(ctx context.Context, key string) (owed bool, err error) {
	return p.owe(ctx, "leaving what was said so far", func(tx *sql.Tx, info ProcessInfo, now int64) (bool, error) {
		n, err := sqlite.Change(ctx, tx, `INSERT INTO debts (session, key, kind, reason, url, agent_id, state,
			created, owed, due)
			SELECT max(session), key, ?2, ?6, ?3, (SELECT agent_id FROM sessions WHERE id = turns.session),
				?4, ?5, ?5, ?5
			FROM turns WHERE key = ?1 AND ended > 0 AND daemon_delivery = 0 GROUP BY key
			ON CONFLICT (key, kind) WHERE done = 0 AND payload = '' DO UPDATE
			SET owed = excluded.owed, due = excluded.due, again = 1`,
			key, KindDaemon, info.URL, Owed, now, SoFar)
		return n > 0, err
	})
}

// owe leaves a delivery in a transaction, if this process owes the daemon anything.
func (p *Process) owe(
	ctx context.Context, doing string, leave func(tx *sql.Tx, info ProcessInfo, now int64) (bool, error),
) (owed bool, err error) {
	err = p.store.write(ctx, doing, func(tx *sql.Tx) error {
		info, owes, err := p.store.debtor(ctx, tx, p.id)
		owed = false
		if err == nil && owes {
			owed, err = leave(tx, info, sqlite.Stamp(p.store.now()))
		}
		return err
	})
	return owed && err == nil, err
}

// oweFor ends the open turns of a process, in one session or in all (0), and leaves a delivery for each key and kind
// with turns of the process that were not delivered. An open delivery becomes due again.
func (s *core) oweFor(ctx context.Context, tx *sql.Tx, p ProcessInfo, session int64, reason string) error {
	now := sqlite.Stamp(s.now())
	const mine = ` WHERE process = ?1 AND (?2 = 0 OR session = ?2)`
	if _, err := tx.ExecContext(ctx, `UPDATE turns SET ended = ?3`+mine+` AND ended = 0`,
		p.ID, session, now); err != nil {
		return err
	}
	owe := func(kind, column string) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO debts (session, key, kind, reason, url, agent_id, hook_command,
			state, created, owed, due)
			SELECT max(session), key, ?3, ?4, ?7, (SELECT agent_id FROM sessions WHERE id = turns.session),
				iif(?3 = ?8, (SELECT hook_command FROM processes WHERE id = ?1), ''), ?5, ?6, ?6, ?6
			FROM turns`+mine+` AND `+column+` = 0 GROUP BY key
			ON CONFLICT (key, kind) WHERE done = 0 AND payload = '' DO UPDATE
			SET session = excluded.session,
				reason = iif(unanswered <> 0 OR parts > 0, reason, excluded.reason), url = excluded.url,
				agent_id = excluded.agent_id, hook_command = excluded.hook_command,
				owed = excluded.owed, due = excluded.due, again = 1`,
			p.ID, session, kind, reason, Owed, now, p.URL, KindHook)
		return err
	}
	daemon, err := s.owesDaemon(ctx, tx, p)
	if err == nil && daemon {
		err = owe(KindDaemon, "daemon_delivery")
	}
	if err == nil && p.Hook {
		err = owe(KindHook, "hook_delivery")
	}
	return err
}

// owesDaemon reports whether sessions of p are owed to the daemon: always in daemon mode, which is also that of a
// process for which a person named one; in auto mode if one answered since the process began or in the last 14 days, so
// that nobody without a daemon collects dead rows.
func (s *core) owesDaemon(ctx context.Context, q sqlite.Querier, p ProcessInfo) (bool, error) {
	switch p.Memory {
	case memoryDaemon:
		return true, nil
	case memoryAuto:
	default:
		return false, nil
	}
	since := s.now().Add(-daemonExpected)
	if p.Started.Before(since) {
		since = p.Started
	}
	var seen bool
	err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM noted
		WHERE kind = 'daemon' AND name = ? AND at >= ?)`, p.SignetPath, sqlite.Stamp(since)).Scan(&seen)
	return seen, err
}

// MayOwe reports whether a process like this one, which has just begun, owes the daemon its turns.
func (s Debts) MayOwe(ctx context.Context, like ProcessInfo) (bool, error) {
	like.Started = s.now()
	return s.owesDaemon(ctx, s.db, like)
}

// debtor returns a process, and whether its sessions are owed to the daemon.
func (s *core) debtor(ctx context.Context, q sqlite.Querier, id string) (p ProcessInfo, owes bool, err error) {
	if p, err = processByID(ctx, q, id); err == nil {
		owes, err = s.owesDaemon(ctx, q, p)
	}
	return p, owes, err
}

// A StaleKey is a key that nobody will use any more, with what a session-end has to say.
type StaleKey struct {
	Key, AgentID, Harness, Cwd, Project string
	URL                                 string // of a daemon that holds it; "" for the one that is configured
}

// StaleKeys returns keys that the daemon may count among its live sessions and that nobody uses: a hook was sent with
// them and no session-end since. A key under which nothing was said and no context was used is left alone until it is
// older than maxAge, for the next process; one whose turns are about to be posted, until they are. The current key of a
// session that a living process holds is not among them, nor a living process's key without a session. Where a process
// like this one owes no daemon anything, there are only those held at an address that a person named, and none without
// a daemon. A key that could not be ended in 14 days is given up, like a debt.
func (s Debts) StaleKeys(ctx context.Context, like ProcessInfo, maxAge time.Duration) ([]StaleKey, error) {
	const doing = "looking for unused keys"
	owes, err := s.MayOwe(ctx, like)
	if err != nil || like.Memory != memoryAuto && like.Memory != memoryDaemon {
		return nil, sqlite.While(doing, err)
	}
	type unused struct {
		StaleKey
		session int64
		current bool
		unsent  bool   // turns under it were not delivered
		process string // of a key without a session
	}
	now := s.now()
	all, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (k unused, err error) {
		return k, row.Scan(&k.Key, &k.AgentID, &k.Harness, &k.Cwd, &k.Project, &k.URL, &k.session, &k.current,
			&k.unsent, &k.process)
	}, `SELECT k.key, coalesce(s.agent_id, k.agent_id), coalesce(s.harness, ''), coalesce(s.cwd, ''),
			coalesce(s.project, ''), h.value, coalesce(s.id, 0), s.key IS k.key,
			EXISTS (SELECT 1 FROM turns t WHERE t.key = k.key AND t.daemon_delivery = 0),
			iif(s.id IS NULL, k.process, '')
		FROM session_keys k JOIN json_each(k.held) h LEFT JOIN sessions s ON s.id = k.session
		WHERE k.started > ?1 AND k.ended = 0 AND (?4 OR h.value <> '')
			AND (k.started < ?2 OR k.used > 0 OR EXISTS (SELECT 1 FROM turns t WHERE t.key = k.key))
			AND NOT EXISTS (SELECT 1 FROM debts d WHERE d.key = k.key AND d.kind = ?3 AND d.done = 0 AND d.waits = 0)
		ORDER BY k.started`, sqlite.Stamp(now.Add(-giveUp)), sqlite.Stamp(now.Add(-maxAge)), KindDaemon, owes)
	if err != nil || len(all) == 0 {
		return nil, sqlite.While(doing, err)
	}
	live, err := s.liveSessions(ctx)
	if err != nil {
		return nil, sqlite.While(doing, err)
	}
	var stale []StaleKey
	for _, k := range all {
		if k.process != "" && Alive(s.live, k.process) || live[k.session] && (k.current || k.unsent) {
			continue
		}
		stale = append(stale, k.StaleKey)
	}
	return stale, nil
}
