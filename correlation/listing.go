package correlation

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What a page asks that lists sessions and shows no more of them than fits.

// A Listing says which sessions to list, the last active first. Zero values ask for nothing.
type Listing struct {
	Sessions  map[int64]bool // only these; nil: all
	Project   *string
	Cwd       string // of sessions that are in no project; only with Project ""
	Harnesses []string
	Agent     string // Signet's
	Since     time.Time
	Until     time.Time
	After     int64 // from the one after this session on
	Limit     int   // 0: all
}

// List returns the rows of sessions.
func (s Book) List(ctx context.Context, l Listing) ([]int64, error) {
	var sessions, harnesses any
	if l.Sessions != nil {
		sessions = sqlite.List(slices.AppendSeq([]int64{}, maps.Keys(l.Sessions)))
	}
	if l.Harnesses != nil {
		harnesses = sqlite.List(l.Harnesses)
	}
	return collect(ctx, s.db, "listing sessions", sqlite.One[int64], `SELECT id FROM sessions
		WHERE (?1 IS NULL OR id IN (SELECT value FROM json_each(?1)))
			AND (?2 IS NULL OR project = ?2) AND (?9 = '' OR cwd = ?9)
			AND (?3 IS NULL OR harness IN (SELECT value FROM json_each(?3)))
			AND (?4 = '' OR agent_id = ?4) AND last_active >= ?5 AND (?6 = 0 OR last_active < ?6)
			AND (?7 = 0 OR (last_active, id) < (SELECT last_active, id FROM sessions WHERE id = ?7))
		ORDER BY last_active DESC, id DESC LIMIT coalesce(nullif(?8, 0), -1)`, sessions, l.Project, harnesses, l.Agent,
		sqlite.Stamp(l.Since), sqlite.Stamp(l.Until), l.After, l.Limit, l.Cwd)
}

// Continuing returns for sessions the ACP id of the one that goes on from each, the last active if there are several.
func (s Book) Continuing(ctx context.Context, sessions []int64) (map[int64]string, error) {
	found, err := sqlite.Pairs[int64, string](ctx, s.db, `SELECT continue_of, acp_id FROM sessions
		WHERE continue_of IN (SELECT value FROM json_each(?)) ORDER BY last_active, id`, sqlite.List(sessions))
	return found, sqlite.While("reading sessions", err)
}

// Neighbours returns the names of sessions that come right before and behind a name, among all by which Resolve finds
// them.
func (s Book) Neighbours(ctx context.Context, name string) ([]string, error) {
	return collect(ctx, s.db, "reading sessions", sqlite.One[string], `SELECT value FROM json_each(json_array(
		(SELECT max(acp_id) FROM sessions WHERE acp_id < ?1 AND replaced = 0),
		(SELECT min(acp_id) FROM sessions WHERE acp_id > ?1 AND replaced = 0),
		(SELECT max(key) FROM sessions WHERE key < ?1),
		(SELECT min(key) FROM sessions WHERE key > ?1),
		(SELECT max(record) FROM sessions WHERE record < ?1 AND record <> ''),
		(SELECT min(record) FROM sessions WHERE record > ?1 AND record <> ''))) WHERE value IS NOT NULL`, name)
}

// A Count is how many sessions have something in common. What does not count is left zero.
type Count struct {
	Project, Harness, Agent string
	Active                  time.Time // last, in the quarter of an hour that begins then
	Sessions                int
}

// Kinds counts sessions by what people choose them by.
func (s Book) Kinds(ctx context.Context) ([]Count, error) {
	return collect(ctx, s.db, "counting sessions", func(row sqlite.Row) (c Count, err error) {
		return c, row.Scan(&c.Project, &c.Harness, &c.Agent, &c.Sessions)
	}, `SELECT project, harness, agent_id, count(*) FROM sessions GROUP BY 1, 2, 3`)
}

// Moments counts sessions by project and when they were last active, within so long before the newest of them. Days
// begin on a quarter of an hour in every time zone.
func (s Book) Moments(ctx context.Context, within time.Duration) ([]Count, error) {
	return collect(ctx, s.db, "counting sessions", func(row sqlite.Row) (c Count, err error) {
		var at int64
		err = row.Scan(&at, &c.Project, &c.Sessions)
		c.Active = sqlite.Unstamp(at)
		return c, err
	}, `SELECT last_active / 900000 * 900000, project, count(*) FROM sessions
		WHERE last_active >= (SELECT max(last_active) FROM sessions) - ?
		GROUP BY 1, 2 ORDER BY 1`, within.Milliseconds())
}

// SessionsByProject counts the sessions in which something was said, by project, the most first.
func SessionsByProject(ctx context.Context, q sqlite.Querier) ([]Count, error) {
	return sqlite.Collect(ctx, q, func(row sqlite.Row) (c Count, err error) {
		return c, row.Scan(&c.Project, &c.Sessions)
	}, `SELECT project, count(*) FROM sessions s WHERE parent_key = ''
		AND EXISTS (SELECT 1 FROM turns WHERE session = s.id AND delegation = '')
		GROUP BY project ORDER BY 2 DESC, 1`)
}

// Related returns the sessions that a session continues, is continued by, works for, or that work for it.
func (s Book) Related(ctx context.Context, session int64) ([]int64, error) {
	return collect(ctx, s.db, "reading a session", sqlite.One[int64], `
		SELECT continue_of FROM sessions WHERE id = ?1 AND continue_of IS NOT NULL UNION
		SELECT id FROM sessions WHERE continue_of = ?1 UNION
		SELECT k.session FROM session_keys k JOIN sessions s ON k.key = s.parent_key WHERE s.id = ?1 UNION
		SELECT id FROM sessions WHERE parent_key IN (SELECT key FROM session_keys WHERE session = ?1)`, session)
}
