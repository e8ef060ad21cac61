package correlation

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Noting is one time that a session's agent was asked for notes of it. A session that goes on is asked again, for the
// turns since; one that failed once more, a day later.
type Noting struct {
	ID, Session  int64
	Turn         int64     // the row of the last turn that it was given
	Began, Ended time.Time // Ended is zero while it goes on
	Notes        int       // how many were kept
	Error        string    // why there is no answer
	Tokens       *int64    // nil, and of Cost: not reported
	Cost         *float64
	Currency     string
}

// What a session must have to be worth asking, how long it must be quiet unless it has ended, and when it is too late.
const (
	notedWork  = 2    // turns with tool calls,
	notedTalk  = 1500 // or characters
	notedQuiet = 20 * time.Minute
	notedUntil = 24 * time.Hour
	notedAgain = 24 * time.Hour // after a failure, once
)

// noted is the last turn of session s that needs no notes any more: it was answered for, or has failed twice.
const noted = `coalesce((SELECT max(n.turn) FROM notings n WHERE n.session = s.id AND n.ended > 0 AND (n.error = ''
	OR (SELECT count(*) FROM notings m WHERE m.session = n.session AND m.turn = n.turn) > 1)), 0)`

// worthNoting selects sessions of the user's with enough turns that were not noted yet.
const worthNoting = `SELECT s.id FROM sessions s WHERE s.parent_key = '' AND s.project <> ''
	AND (SELECT count(*) FILTER (WHERE t.tools <> '[]') >= ?1 OR total(length(t.user) + length(t.assistant)) >= ?2
		FROM turns t WHERE t.session = s.id AND t.id > ` + noted + ` AND t.ended > 0 AND t.delegation = '')`

// ToNote returns the sessions whose agents are to be asked for notes now, the last active first: what has ended, or has
// been quiet, lately. Imports are none of them.
func (s *Store) ToNote(ctx context.Context, limit int) ([]int64, error) {
	now := s.now()
	before := func(d time.Duration) int64 { return sqlite.Stamp(now.Add(-d)) }
	return collect(ctx, s.db, "looking for sessions to note", sqlite.One[int64], worthNoting+`
		AND s.client NOT LIKE 'backfill:%' AND s.last_active > ?3 - iif(EXISTS (SELECT 1 FROM notings n
			WHERE n.session = s.id AND n.error <> ''), 2 * (?4 - ?3), 0)
		AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session = s.id AND t.ended = 0)
		AND NOT EXISTS (SELECT 1 FROM notings n WHERE n.session = s.id AND n.error <> '' AND n.began > ?6)
		AND (s.last_active < ?5 OR NOT EXISTS (SELECT 1 FROM attachments a WHERE a.session = s.id AND a.closed = 0))
		ORDER BY s.last_active DESC LIMIT ?7`, notedWork, notedTalk, before(notedUntil), sqlite.Stamp(now),
		before(notedQuiet), before(notedAgain), limit)
}

// NotNoted returns the last sessions that have no notes and are worth some, the last active first, also imports.
func (s Book) NotNoted(ctx context.Context, limit int) ([]int64, error) {
	return collect(ctx, s.db, "looking for sessions to note", sqlite.One[int64], worthNoting+`
		ORDER BY s.last_active DESC LIMIT ?3`, notedWork, notedTalk, limit)
}

// ToldOf returns the turns of a session that were not noted yet, in their order; of one that was noted to its end, all.
func (s *Store) ToldOf(ctx context.Context, session int64) (turns []Said, err error) {
	const doing = "reading a session for its notes"
	all, err := saidWith(ctx, s.db, math.MaxInt, selectSaid+`WHERE t.session = ? AND t.ended > 0 AND t.delegation = ''
		ORDER BY t.started, t.id`, session)
	if err != nil {
		return nil, sqlite.While(doing, err)
	}
	last, err := value[int64](ctx, s.db, doing, `SELECT `+noted+` FROM sessions s WHERE s.id = ?`, session)
	for i := range all {
		if all[i].N = i + 1; all[i].Turn > last {
			turns = append(turns, all[i])
		}
	}
	if len(turns) == 0 {
		turns = all
	}
	return turns, err
}

// BeginNoting stores that a session's agent is asked now. Whoever calls it is the only process that does; what others
// have begun has failed with them.
func (s *Store) BeginNoting(ctx context.Context, session, turn int64) (n Noting, err error) {
	n = Noting{Session: session, Turn: turn, Began: s.now()}
	err = s.write(ctx, "noting a session", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE notings SET ended = began, error = 'the process that asked was killed'
			WHERE ended = 0`)
		if err == nil {
			n.ID, err = sqlite.One[int64](tx.QueryRowContext(ctx, `INSERT INTO notings (session, turn, began)
				VALUES (?, ?, ?) RETURNING id`, session, turn, sqlite.Stamp(n.Began)))
		}
		return err
	})
	return n, err
}

// EndNoting stores how it ended, and leaves deliveries of what was noted: of each its Kind, URL, HookCommand and
// Payload. The error is ErrNotFound if the session was forgotten meanwhile.
func EndNoting(ctx context.Context, tx *sql.Tx, n Noting, owed []Debt) error {
	err := sqlite.MustHit(ctx, tx, ErrNotFound, `UPDATE notings SET ended = ?, notes = ?, error = ?, tokens = ?,
		cost = ?, currency = ? WHERE id = ? AND ended = 0`, sqlite.Stamp(n.Ended), n.Notes, n.Error, n.Tokens, n.Cost,
		n.Currency, n.ID)
	for _, d := range owed {
		if err == nil {
			d.Reason = AfterNotes
			err = oweText(ctx, tx, n.Session, sqlite.Stamp(n.Ended), d)
		}
	}
	return err
}

// EndNoting does so in a transaction of its own.
func (s *Store) EndNoting(ctx context.Context, n Noting) error {
	return s.write(ctx, "noting a session", func(tx *sql.Tx) error { return EndNoting(ctx, tx, n, nil) })
}

// Notings returns how often agents were asked in the scope, oldest first.
func (s Book) Notings(ctx context.Context, in Scope) ([]Noting, error) {
	return collect(ctx, s.db, "reading what was noted", func(row sqlite.Row) (n Noting, err error) {
		var began, ended int64
		err = row.Scan(&n.ID, &n.Session, &n.Turn, &began, &ended, &n.Notes, &n.Error, &n.Tokens, &n.Cost, &n.Currency)
		n.Began, n.Ended = sqlite.Unstamp(began), sqlite.Unstamp(ended)
		return n, err
	}, `SELECT id, session, turn, began, ended, notes, error, tokens, cost, currency FROM notings
		WHERE `+in.where("session")+` AND began >= ?2 ORDER BY id`, in.sessions(), sqlite.Stamp(in.Since))
}
