package correlation

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What was said, for the embedded store, which learns from it and searches it. It calls these functions in its own
// transactions, and joins with the view turns_said where it reads many rows; it knows no more of this package's tables.

// Said is what the embedded store needs to know of a turn.
type Said struct {
	Turn, Session    int64
	Key              string
	Started          int64 // unix milliseconds
	Harness, Project string
	Cwd              string
	User             string
	Assistant        string // with chars.ToolMark where it called tools
	Tools            []ToolCall
	Learned          bool
	ByAgent          bool // an agent has said what User says, to one that works for it
}

const selectSaid = `SELECT t.id, t.session, t.key, t.started, s.harness, s.project, s.cwd, t.user, t.assistant, t.tools,
	t.learned, t.delegation <> '' OR s.parent_key <> ''
	FROM turns t JOIN sessions s ON s.id = t.session `

func scanSaid(row sqlite.Row) (t Said, err error) {
	var tools []byte
	if err := row.Scan(&t.Turn, &t.Session, &t.Key, &t.Started, &t.Harness, &t.Project, &t.Cwd, &t.User, &t.Assistant,
		&tools, &t.Learned, &t.ByAgent); err != nil {
		return t, err
	}
	return t, json.Unmarshal(tools, &t.Tools)
}

// Unlearned returns at most so many turns that have ended and were not learned from since they were last written,
// oldest first.
func Unlearned(ctx context.Context, q sqlite.Querier, limit int) ([]Said, error) {
	return sqlite.Collect(ctx, q, scanSaid, selectSaid+`WHERE t.learned = 0 AND t.ended > 0 ORDER BY t.id
		LIMIT ?`, limit)
}

// LearnedUpTo returns at most so many turns that were learned from, the given one and those before it, newest first.
func LearnedUpTo(ctx context.Context, q sqlite.Querier, turn int64, limit int) ([]Said, error) {
	return sqlite.Collect(ctx, q, scanSaid,
		selectSaid+`WHERE t.id <= ? AND t.learned = 1 AND t.ended > 0 ORDER BY t.id DESC LIMIT ?`, turn, limit)
}

// SaidIn returns one turn, or sql.ErrNoRows.
func SaidIn(ctx context.Context, q sqlite.Querier, turn int64) (Said, error) {
	return scanSaid(q.QueryRowContext(ctx, selectSaid+`WHERE t.id = ?`, turn))
}

// Unchanged reports whether a turn is as it was read: nobody has written it again, learned from it or deleted it.
func Unchanged(ctx context.Context, q sqlite.Querier, t Said) (same bool, err error) {
	return sqlite.Optional[bool](q.QueryRowContext(ctx, `SELECT user = ? AND assistant = ? AND learned = ? FROM turns
		WHERE id = ?`, t.User, t.Assistant, t.Learned, t.Turn))
}

// MarkLearned notes that a turn was learned from. Writing the turn takes the mark away.
func MarkLearned(ctx context.Context, tx *sql.Tx, turn int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE turns SET learned = 1 WHERE id = ?`, turn)
	return err
}

// SaidContaining returns the turns that contain a text. text is in lower case; ASCII letters match in any case.
func SaidContaining(ctx context.Context, q sqlite.Querier, text string) ([]Said, error) {
	return sqlite.Collect(ctx, q, scanSaid,
		selectSaid+`WHERE instr(lower(t.user), ?1) OR instr(lower(t.assistant), ?1)`, text)
}

// Reword replaces the text of a turn of which a person had something forgotten. What it said before is not imported
// again.
func Reword(ctx context.Context, tx *sql.Tx, t Said) error {
	if err := noteForgotten(ctx, tx, fmt.Sprintf("[%d]", t.Turn)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE turns SET user = ?, assistant = ? WHERE id = ?`, t.User, t.Assistant, t.Turn)
	return err
}

// DropContexts removes the stored contexts that contain a text.
func DropContexts(ctx context.Context, tx *sql.Tx, text string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM stored_contexts WHERE instr(CAST(payload AS TEXT), ?) > 0`, text)
	return err
}

// ToldTo returns how many sessions had a memory inserted.
func (s *Store) ToldTo(ctx context.Context, item string) (sessions int, err error) {
	return value[int](ctx, s, "reading who was told", `SELECT count(DISTINCT i.session) FROM injections i,
		json_each(i.items) j WHERE j.value = ? AND i.outcome <> ?`, item, WasRefused)
}

// Told returns which of these items a session had inserted lately, within the newest 5,000 blocks.
func (s *Store) Told(ctx context.Context, items []string) ([]string, error) {
	return collect(ctx, s, "reading who was told", sqlite.One[string], `SELECT DISTINCT j.value
		FROM injections i, json_each(i.items) j
		WHERE i.id > (SELECT max(id) FROM injections) - 5000 AND i.outcome <> ?
			AND j.value IN (SELECT value FROM json_each(?))`, WasRefused, sqlite.List(items))
}

// SessionsOf returns the sessions that have or had one of these keys.
func SessionsOf(ctx context.Context, q sqlite.Querier, keys [2]string) ([]int64, error) {
	if keys == [2]string{} {
		return nil, nil
	}
	return sqlite.Collect(ctx, q, sqlite.One[int64], `SELECT session FROM session_keys WHERE key IN (?, ?)`,
		keys[0], keys[1])
}
