package correlation

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What sessions used, for those who sum it up.

// A Scope limits what is read: to what happened since a time, unless that is zero, and in some sessions, unless that
// is nil.
type Scope struct {
	Since    time.Time
	Sessions []int64
}

// where is the scope as a condition on a column of sessions' rows, with the sessions as ?1.
func (s Scope) where(column string) string {
	if s.Sessions == nil {
		return "?1 = ''"
	}
	return column + " IN (SELECT value FROM json_each(?1))"
}

// started is the column of turns by whose index some turns are found; in sessions they are found by these.
func (s Scope) started() string {
	if s.Sessions == nil {
		return "started"
	}
	return "+started"
}

// sessions are the sessions as a parameter.
func (s Scope) sessions() string {
	if s.Sessions == nil {
		return ""
	}
	return sqlite.List(s.Sessions)
}

// Names returns the scope's sessions, whenever they were, with what usage is summed up by: harness, project and ACP id.
func (s Book) Names(ctx context.Context, in Scope) ([]Session, error) {
	return collect(ctx, s.db, "reading sessions", func(row sqlite.Row) (n Session, err error) {
		return n, row.Scan(&n.ID, &n.Harness, &n.Project, &n.ACPID)
	}, `SELECT id, harness, project, acp_id FROM sessions WHERE `+in.where("id"), in.sessions())
}

// Harnesses returns the names of the harnesses that sessions have had.
func (s Book) Harnesses(ctx context.Context) ([]string, error) {
	return collect(ctx, s.db, "reading names of harnesses", sqlite.One[string], `SELECT DISTINCT harness FROM sessions`)
}

// TurnStarts calls do with the session and the beginning of each turn in the scope or, not timed, with how many there
// are of each session, which is a tenth of the work.
func (s Book) TurnStarts(ctx context.Context, in Scope, timed bool, do func(session int64, at time.Time, n int)) error {
	columns, from, group := `session, started, 1`, ` AND `+in.started()+` >= ?2`, ``
	if !timed {
		columns, group = `session, 0, count(*)`, ` GROUP BY session`
	}
	if !timed && in.Since.IsZero() {
		from = ` AND ?2 = 0` // so that the index of sessions is enough
	}
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var session, at int64
		var n int
		err := row.Scan(&session, &at, &n)
		do(session, sqlite.Unstamp(at), n)
		return err
	}, `SELECT `+columns+` FROM turns WHERE `+in.where("session")+from+group, in.sessions(), sqlite.Stamp(in.Since))
	return sqlite.While("reading when turns began", err)
}

// InsertedBytes calls do with the session, the time and the size of each injection in the scope that was not refused.
func (s Book) InsertedBytes(ctx context.Context, in Scope, do func(session int64, at time.Time, size int64)) error {
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var session, at, size int64
		err := row.Scan(&session, &at, &size)
		do(session, sqlite.Unstamp(at), size)
		return err
	}, `SELECT session, at, bytes FROM injections WHERE `+in.where("session")+` AND at >= ?2 AND outcome <> ?3`,
		in.sessions(), sqlite.Stamp(in.Since), WasRefused)
	return sqlite.While("reading what was inserted", err)
}

// A UsageReport is one report of usage, with the harness that made it.
type UsageReport struct {
	Session, Turn     int64 // rows; Turn is 0 for a report of the session
	At                time.Time
	Reporter, Harness string
	Process           string // only of harnesses whose process was asked for
	Input, Output     *int64
	Cost              *float64
	Currency          string
}

// UsageReports calls do with all reports of the scope's sessions, by session and in order. Of the harnesses named it
// looks up the process that reported, which takes longer.
func (s Book) UsageReports(ctx context.Context, in Scope, processOf []string, do func(UsageReport)) error {
	err := sqlite.Each(ctx, s.db, func(row sqlite.Row) error {
		var r UsageReport
		var at int64
		err := row.Scan(&r.Session, &r.Turn, &at, &r.Reporter, &r.Input, &r.Output, &r.Cost, &r.Currency, &r.Harness,
			&r.Process)
		r.At = sqlite.Unstamp(at)
		do(r)
		return err
	}, `SELECT u.session, coalesce(u.turn, 0), u.at, u.reporter, u.input, u.output, u.cost, u.currency, s.harness,
		CASE WHEN s.harness IN (SELECT value FROM json_each(?2)) THEN coalesce((SELECT process FROM turns t
			WHERE t.session = u.session AND t.id <= coalesce(u.turn, t.id) AND t.started <= u.at
			ORDER BY t.id DESC LIMIT 1), '')
		ELSE '' END
		FROM usage u JOIN sessions s ON s.id = u.session WHERE `+in.where("u.session")+`
		ORDER BY u.session, u.id`, in.sessions(), sqlite.List(processOf))
	return sqlite.While("reading usage", err)
}
