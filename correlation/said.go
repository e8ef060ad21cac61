package correlation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
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

	N      int      // its number in the session, from 1 on; 0: nobody asked (ToldOf)
	Items  []string // that its session was told before it ended
	Blocks []string // that its agent was given before it had answered, so that the answer may repeat them
	ended  int64    // 0: it goes on
}

const selectSaid = `SELECT t.id, t.session, t.key, t.started, s.harness, s.project, s.cwd, t.user, t.assistant, t.tools,
	t.learned, t.delegation <> '' OR s.parent_key <> '', t.ended
	FROM turns t JOIN sessions s ON s.id = t.session `

func scanSaid(row sqlite.Row) (t Said, err error) {
	var tools []byte
	if err := row.Scan(&t.Turn, &t.Session, &t.Key, &t.Started, &t.Harness, &t.Project, &t.Cwd, &t.User, &t.Assistant,
		&tools, &t.Learned, &t.ByAgent, &t.ended); err != nil {
		return t, err
	}
	return t, json.Unmarshal(tools, &t.Tools)
}

// errEnough ends the reading of rows.
var errEnough = errors.New("enough was read")

// saidWith returns the first turns that a query on selectSaid finds, with their blocks: no more once they have so many
// bytes of text.
func saidWith(ctx context.Context, q sqlite.Querier, bytes int, query string, args ...any) (turns []Said, err error) {
	err = sqlite.Each(ctx, q, func(row sqlite.Row) error {
		t, err := scanSaid(row)
		turns = append(turns, t)
		if bytes -= len(t.User) + len(t.Assistant); err == nil && bytes <= 0 {
			err = errEnough
		}
		return err
	}, query, args...)
	if errors.Is(err, errEnough) {
		err = nil
	}
	given := map[int64][]Injection{}
	for i := range turns {
		t := &turns[i]
		if _, read := given[t.Session]; !read && err == nil {
			given[t.Session], err = blocksOf(ctx, q, t.Session)
		}
		for _, b := range given[t.Session] {
			if t.ended == 0 || b.At.UnixMilli() <= t.ended {
				t.Blocks = append(t.Blocks, b.Text)
				t.Items = append(t.Items, b.Items...)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return turns, nil
}

// blocksOf returns what the agent of a session was given in it, and before it was forked, in order: At, Text, and the
// Items of blocks that were given in the session itself, and not refused.
func blocksOf(ctx context.Context, q sqlite.Querier, session int64) ([]Injection, error) {
	return sqlite.Collect(ctx, q, func(row sqlite.Row) (b Injection, err error) {
		var at int64
		var items []byte
		if err := row.Scan(&at, &b.Text, &items); err != nil {
			return b, err
		}
		b.At = sqlite.Unstamp(at)
		return b, json.Unmarshal(items, &b.Items)
	}, `WITH RECURSIVE past (id, until) AS (
		VALUES (?1, 9223372036854775807) UNION
		SELECT c.fork_of, min(p.until, c.started) FROM past p JOIN sessions c ON c.id = p.id
			WHERE c.fork_of IS NOT NULL)
		SELECT i.at, i.text, iif(i.session = ?1 AND i.outcome <> ?2, i.items, '[]')
			FROM injections i JOIN past p ON p.id = i.session WHERE i.at <= p.until ORDER BY i.id`,
		session, WasRefused)
}

// Unlearned returns turns that have ended and were not learned from since they were last written, oldest first: no more
// once they have so many bytes of text.
func Unlearned(ctx context.Context, q sqlite.Querier, bytes int) ([]Said, error) {
	return saidWith(ctx, q, bytes, selectSaid+`WHERE t.learned = 0 AND t.ended > 0 ORDER BY t.id`)
}

// LearnedUpTo returns turns that were learned from, the given one and those before it, newest first: no more once they
// have so many bytes of text.
func LearnedUpTo(ctx context.Context, q sqlite.Querier, turn int64, bytes int) ([]Said, error) {
	return saidWith(ctx, q, bytes,
		selectSaid+`WHERE t.id <= ? AND t.learned = 1 AND t.ended > 0 ORDER BY t.id DESC`, turn)
}

// SaidIn returns one turn, or sql.ErrNoRows.
func SaidIn(ctx context.Context, q sqlite.Querier, turn int64) (Said, error) {
	turns, err := saidWith(ctx, q, math.MaxInt, selectSaid+`WHERE t.id = ?`, turn)
	if err == nil && len(turns) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return Said{}, err
	}
	return turns[0], nil
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

// SaidContaining returns the turns that contain a text, without their blocks. text is in lower case; ASCII letters
// match in any case.
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

// ToldTo returns how many sessions had a memory inserted.
func (s Book) ToldTo(ctx context.Context, item string) (sessions int, err error) {
	return value[int](ctx, s.db, "reading who was told", `SELECT count(DISTINCT i.session) FROM injections i,
		json_each(i.items) j WHERE j.value = ? AND i.outcome <> ?`, item, WasRefused)
}

// Told returns which of these items a session had inserted lately, within the newest 5,000 blocks.
func (s Book) Told(ctx context.Context, items []string) ([]string, error) {
	return collect(ctx, s.db, "reading who was told", sqlite.One[string], `SELECT DISTINCT j.value
		FROM injections i, json_each(i.items) j
		WHERE i.id > (SELECT max(id) FROM injections) - 5000 AND i.outcome <> ?
			AND j.value IN (SELECT value FROM json_each(?))`, WasRefused, sqlite.List(items))
}

// SessionsOf returns the sessions that have or had one of these keys.
func SessionsOf(ctx context.Context, q sqlite.Querier, keys [2]string) ([]int64, error) {
	if keys == [2]string{} {
		return nil, nil
	}
	return sqlite.Collect(ctx, q, sqlite.One[int64], `SELECT session FROM session_keys
		WHERE key IN (?, ?) AND session IS NOT NULL`,
		keys[0], keys[1])
}

// A Past is what a project's sessions were about, as far as their first words say.
type Past struct {
	Sessions int
	Since    time.Time
	Asked    []string // in each, first; the newest session's first
}

const (
	lookedPast = 2000 // sessions, the newest, of any project
	askedPast  = 20   // of the project's, whose first words are read
	askedBytes = 160  // characters of these
)

// PastOf returns a project's past, without the sessions of some keys.
func PastOf(ctx context.Context, q sqlite.Querier, project string, keys [2]string) (p Past, err error) {
	err = sqlite.Each(ctx, q, func(row sqlite.Row) error {
		var started int64
		var asked string
		err := row.Scan(&started, &asked)
		if at := sqlite.Unstamp(started); p.Sessions == 0 || at.Before(p.Since) {
			p.Since = at
		}
		if p.Sessions++; asked != "" {
			p.Asked = append(p.Asked, chars.WithoutBlockMarks(asked))
		}
		return err
	}, `SELECT started, iif(row_number() OVER (ORDER BY last_active DESC) > ?4, '', coalesce(
			(SELECT substr(user, 1, ?5) FROM turns WHERE session = s.id AND delegation = '' ORDER BY id LIMIT 1), ''))
		FROM (SELECT id, started, last_active, project, parent_key FROM sessions ORDER BY last_active DESC LIMIT ?6) s
		WHERE project = ?1 AND parent_key = ''
			AND id NOT IN (SELECT session FROM session_keys WHERE key IN (?2, ?3) AND session IS NOT NULL)
		ORDER BY last_active DESC`, project, keys[0], keys[1], askedPast, askedBytes, lookedPast)
	return p, err
}
