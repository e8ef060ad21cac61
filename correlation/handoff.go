package correlation

import (
	"context"
	"database/sql"
	"math"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// handoffAge is how long a handoff waits for a session to take it.
const handoffAge = time.Hour

// Handoff leaves a session to be continued by the next one of an agent, by any of its names, in the same project, or
// in the same folder if that is in none. A handoff of the session that waits for the agent already is renewed.
func (s *Store) Handoff(ctx context.Context, session int64, agent string) error {
	return s.write(ctx, "leaving a session for another agent", func(tx *sql.Tx) error {
		agent = strings.ToLower(agent)
		if _, err := tx.ExecContext(ctx, `DELETE FROM handoffs WHERE session = ? AND agent = ? AND taken_by IS NULL`,
			session, agent); err != nil {
			return err
		}
		return sqlite.MustHit(ctx, tx, ErrNotFound, `INSERT INTO handoffs (session, agent, place, at)
			SELECT id, ?, `+placeOf+`, ? FROM sessions s WHERE id = ?`, agent, sqlite.Stamp(s.now()), session)
	})
}

// placeOf is the place of a session (s) by which handoffs are found.
const placeOf = `iif(s.project <> '', s.project, s.cwd)`

// Continued returns the session that one continues, 0 for none: whose place it took, or which was handed to its agent.
// names are the agent's, in lower case. The first session that asks takes the handoff. There is none for a session that
// has been told of it, because a prompt carried a block that was not refused.
func (s *Store) Continued(ctx context.Context, session int64, names []string) (before int64, handed bool, err error) {
	const doing = "finding what a session goes on from"
	var told bool
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(h.session, s.continue_of, 0), h.session IS NOT NULL,
			EXISTS (SELECT 1 FROM injections WHERE session = s.id AND kind <> 'system' AND outcome <> ?2)
		FROM sessions s LEFT JOIN handoffs h ON h.taken_by = s.id WHERE s.id = ?1`, session, WasRefused).
		Scan(&before, &handed, &told)
	if err != nil || told {
		return 0, false, sqlite.While(doing, orNotFound(err))
	}
	if before != 0 {
		var said bool
		err := s.db.QueryRowContext(ctx, conversationBefore+` SELECT EXISTS (
			SELECT 1 FROM turns t JOIN past p ON p.id = t.session WHERE t.started <= p.until)`, before).Scan(&said)
		if err != nil || said {
			return before, handed, sqlite.While(doing, err)
		}
	}
	// the newest handoff that the session may take: it has to have begun after it, within handoffAge
	id, err := sqlite.Optional[int64](s.db.QueryRowContext(ctx, `SELECT h.id FROM handoffs h
		JOIN sessions s ON h.place = `+placeOf+`
		WHERE s.id = ?1 AND h.taken_by IS NULL AND h.session <> s.id AND h.agent IN (SELECT value FROM json_each(?2))
			AND s.started BETWEEN h.at AND h.at + ?3 ORDER BY h.id DESC LIMIT 1`,
		session, sqlite.List(names), handoffAge.Milliseconds()))
	if err != nil || id == 0 {
		return 0, false, sqlite.While(doing, err)
	}
	before = 0
	err = s.write(ctx, doing, func(tx *sql.Tx) (err error) {
		before, err = sqlite.Optional[int64](tx.QueryRowContext(ctx, `UPDATE handoffs SET taken_by = ?, taken = ?
			WHERE id = ? AND taken_by IS NULL RETURNING session`, session, sqlite.Stamp(s.now()), id))
		return err // without a row another session was quicker
	})
	return before, before != 0, err
}

// conversationBefore begins a query with the table past: a session (the first argument) and those that it continues,
// each with the time until which its turns belong to the conversation. What was said in a session after it was forked
// or handed off does not.
const conversationBefore = `WITH RECURSIVE past (id, until) AS (
	VALUES (?1, 9223372036854775807) UNION
	SELECT s.id, iif(s.id = c.fork_of, min(p.until, c.started), p.until) FROM past p JOIN sessions c ON c.id = p.id
		JOIN sessions s ON s.id IN (c.continue_of, c.fork_of) UNION
	SELECT h.session, min(p.until, h.taken) FROM past p JOIN handoffs h ON h.taken_by = p.id)`

// LastTurns returns the first turn and the last ones, limit of them, of a session and of those that it continues, in
// order.
func (s Book) LastTurns(ctx context.Context, session int64, limit int) ([]Said, error) {
	all, err := LastSaid(ctx, s.db, session, limit)
	return all, sqlite.While("reading the last turns", err)
}

// LastSaid is LastTurns for the embedded store.
func LastSaid(ctx context.Context, q sqlite.Querier, session int64, limit int) ([]Said, error) {
	return saidWith(ctx, q, math.MaxInt, conversationBefore+`,
		said (id, started) AS (SELECT t.id, t.started FROM turns t JOIN past p ON p.id = t.session
			WHERE t.started <= p.until)
		`+selectSaid+`WHERE t.id IN (
			SELECT id FROM (SELECT id FROM said ORDER BY started DESC, id DESC LIMIT ?2) UNION
			SELECT id FROM (SELECT id FROM said ORDER BY started, id LIMIT 1))
		ORDER BY t.started, t.id`, session, limit)
}

// LastSessions returns the sessions of a project in which a person said something last, the newest first, without those
// of some keys.
func LastSessions(ctx context.Context, q sqlite.Querier, project string, keys [2]string, limit int) ([]int64, error) {
	return sqlite.Collect(ctx, q, sqlite.One[int64], `SELECT s.id FROM sessions s WHERE s.project = ?1
		AND s.parent_key = '' AND EXISTS (SELECT 1 FROM turns WHERE session = s.id AND delegation = '')
		AND s.id NOT IN (SELECT session FROM session_keys WHERE key IN (?2, ?3))
		ORDER BY s.last_active DESC, s.id DESC LIMIT ?4`, project, keys[0], keys[1], limit)
}

// Handoffs returns which session was handed off to a session, by the latter.
func (s Book) Handoffs(ctx context.Context) (map[int64]int64, error) {
	found, err := sqlite.Pairs[int64, int64](ctx, s.db, `SELECT taken_by, session FROM handoffs
		WHERE taken_by IS NOT NULL`)
	return found, sqlite.While("reading what was handed over", err)
}

// HandoffFor returns the session that the next one of an agent would continue in a place (a project, or a folder that
// is in none), 0 for none.
func (s Book) HandoffFor(ctx context.Context, place string, names []string) (session int64, err error) {
	session, err = sqlite.Optional[int64](s.db.QueryRowContext(ctx, `SELECT session FROM handoffs
		WHERE place = ? AND taken_by IS NULL AND at >= ? AND agent IN (SELECT value FROM json_each(?))
		ORDER BY id DESC LIMIT 1`,
		place, sqlite.Stamp(s.now().Add(-handoffAge)), sqlite.List(names)))
	return session, sqlite.While("looking for what was handed over", err)
}
