package correlation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What was said, for the store that learns from it and searches it. It calls these in its own transactions, and joins
// with the view turns_said where it reads many rows; of our tables it knows no more.

// Said is a turn as one learns from it.
type Said struct {
	Turn, Session    int64
	Key              string
	Started          int64 // unix milliseconds
	Harness, Project string
	User, Assistant  string
	Learned          bool
}

const selectSaid = `SELECT t.id, t.session, t.key, t.started, s.harness, s.project, t.user, t.assistant, t.learned
	FROM turns t JOIN sessions s ON s.id = t.session `

func scanSaid(row sqlite.Row) (t Said, err error) {
	return t, row.Scan(&t.Turn, &t.Session, &t.Key, &t.Started, &t.Harness, &t.Project, &t.User, &t.Assistant,
		&t.Learned)
}

// Unlearned gives turns that have ended or were written again since they were learned from, the oldest first.
func Unlearned(ctx context.Context, q sqlite.Querier, most int) ([]Said, error) {
	return sqlite.Collect(ctx, q, scanSaid, selectSaid+`WHERE t.learned = 0 AND t.ended > 0 ORDER BY t.id
		LIMIT ?`, most)
}

// LearnedUpTo gives turns that were learned from, the newest first from the given one on.
func LearnedUpTo(ctx context.Context, q sqlite.Querier, turn int64, most int) ([]Said, error) {
	return sqlite.Collect(ctx, q, scanSaid,
		selectSaid+`WHERE t.id <= ? AND t.learned = 1 AND t.ended > 0 ORDER BY t.id DESC LIMIT ?`, turn, most)
}

// SaidIn gives one turn. sql.ErrNoRows: it is not there.
func SaidIn(ctx context.Context, q sqlite.Querier, turn int64) (Said, error) {
	return scanSaid(q.QueryRowContext(ctx, selectSaid+`WHERE t.id = ?`, turn))
}

// StillSaid reports whether a turn stands as it was read: nobody has written it again, learned from it or deleted it.
func StillSaid(ctx context.Context, q sqlite.Querier, t Said) (same bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT user = ? AND assistant = ? AND learned = ? FROM turns WHERE id = ?`,
		t.User, t.Assistant, t.Learned, t.Turn).Scan(&same)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return same, err
}

// MarkLearned notes that a turn was learned from. Writing the turn takes the mark away.
func MarkLearned(ctx context.Context, tx *sql.Tx, turn int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE turns SET learned = 1 WHERE id = ?`, turn)
	return err
}

// SaidWith gives the turns in which a text stands, in any case as far as it is ASCII.
func SaidWith(ctx context.Context, q sqlite.Querier, text string) ([]Said, error) {
	return sqlite.Collect(ctx, q, scanSaid,
		selectSaid+`WHERE instr(lower(t.user), ?1) OR instr(lower(t.assistant), ?1)`, text)
}

// Reword makes a turn say something else, of which a person had something forgotten.
func Reword(ctx context.Context, tx *sql.Tx, t Said) error {
	if err := noteForgotten(ctx, tx, fmt.Sprintf("[%d]", t.Turn)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE turns SET user = ?, assistant = ? WHERE id = ?`, t.User, t.Assistant, t.Turn)
	return err
}

// DropContexts removes the stored contexts in which a text stands.
func DropContexts(ctx context.Context, tx *sql.Tx, text string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM stored_contexts WHERE instr(CAST(payload AS TEXT), ?) > 0`, text)
	return err
}

// ItemsTold gives the ids of what was inserted into a session.
func ItemsTold(ctx context.Context, q sqlite.Querier, session int64) ([]string, error) {
	return sqlite.Collect(ctx, q, sqlite.One[string], `SELECT DISTINCT j.value FROM injections i, json_each(i.items) j
		WHERE i.session = ? AND i.outcome <> 'refused' AND j.type = 'text'`, session)
}

// SessionsOf gives the sessions that keys are or were of.
func SessionsOf(ctx context.Context, q sqlite.Querier, keys [2]string) ([]int64, error) {
	if keys == [2]string{} {
		return nil, nil
	}
	return sqlite.Collect(ctx, q, sqlite.One[int64], `SELECT session FROM session_keys WHERE key IN (?, ?)`,
		keys[0], keys[1])
}
