package delegation

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A Question is what a child wants to be allowed, put to the client of the session that asked for the delegation. It
// stands in the delegation's row, and so does the answer beside it: the runner and the relay of that session are two
// processes.
type Question struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Kind  string   `json:"kind"`
	Paths []string `json:"paths"`
	Key   string   `json:"-"` // of that session
}

const (
	answerLimit = time.Minute            // for a person to answer; then it is a no
	answerEvery = 100 * time.Millisecond // how often it is looked for the answer
	maxPaths    = 16
)

// questionOf makes the question about a call. Nothing in it speaks to a terminal.
func questionOf(d Delegation, call acpclient.ToolCall) Question {
	q := Question{ID: ulid.Make().String(), Kind: string(call.ToolKind), Key: d.Key,
		Title: chars.Printable(clean(chars.Cut(d.Agent+", which you delegated to, asks: "+nameOf(call), 300)))}
	if q.Kind == "" {
		q.Kind = "other"
	}
	paths := pathsOf(call)
	for _, path := range paths[:min(len(paths), maxPaths)] {
		q.Paths = append(q.Paths, chars.Printable(clean(chars.Cut(path, 500))))
	}
	return q
}

// askCaller puts a question to the caller's client, and waits for the answer as long as the caller's turn runs, at most
// for answerLimit. why says why it is none.
func (l *Ledger) askCaller(ctx context.Context, d Delegation, q Question) (allowed bool, why string) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	if !l.turnRuns(ctx, d) {
		return false, "nobody is there to ask"
	}
	if l.setQuestion(ctx, d.ID, column(q)) != nil {
		return false, "nobody could be asked"
	}
	defer func() { _ = l.setQuestion(context.WithoutCancel(ctx), d.ID, "") }() // the run's end makes it void, too
	tick := time.NewTicker(answerEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, "nobody answered"
		}
		var answer sql.NullBool
		err := l.db.QueryRowContext(ctx, `SELECT iif(question = '', NULL, question ->> '$.allowed')
			FROM delegations WHERE id = ?`, d.ID).Scan(&answer)
		switch {
		case err != nil: // again in a moment
		case answer.Valid && answer.Bool:
			return true, ""
		case answer.Valid:
			return false, "the user said no"
		case !l.turnRuns(ctx, d) && ctx.Err() == nil:
			return false, "the turn that asked has ended"
		}
	}
}

// turnRuns reports whether the caller's turn goes on.
func (l *Ledger) turnRuns(ctx context.Context, d Delegation) bool {
	if d.Turn == 0 {
		return false
	}
	stop, open, err := l.sessions.TurnStands(ctx, d.Turn)
	return err == nil && stop == "" && open
}

func (l *Ledger) setQuestion(ctx context.Context, id, text string) error {
	_, err := l.db.ExecContext(ctx, `UPDATE delegations SET question = ? WHERE id = ?`, text, id)
	return sqlite.While("asking for a permission", err)
}

// Questions returns what wants an answer of the clients of sessions, by their keys.
func (l *Ledger) Questions(ctx context.Context, keys []string) ([]Question, error) {
	asking := map[string]Question{}
	err := sqlite.Each(ctx, l.db, func(row sqlite.Row) error {
		var id, text string
		var q Question
		err := row.Scan(&id, &q.Key, &text)
		if err == nil && json.Unmarshal([]byte(text), &q) == nil {
			asking[id] = q
		}
		return err
	}, `SELECT id, caller, question FROM delegations WHERE ended = 0 AND state = ? AND question <> ''
		AND question ->> '$.allowed' IS NULL AND caller IN (SELECT value FROM json_each(?))`, Running,
		sqlite.List(keys))
	if err != nil {
		return nil, sqlite.While("looking for requests for permission", err)
	}
	for id := range asking {
		if d, err := byID(ctx, l.db, id); err != nil {
			return nil, err
		} else if l.correct(&d); d.State.Ended() { // its runner was killed
			delete(asking, id)
		}
	}
	return slices.Collect(maps.Values(asking)), nil
}

// Answer stores what the client said to a question, if it is still waited for.
func (l *Ledger) Answer(ctx context.Context, question string, allowed bool) error {
	err := sqlite.Write(ctx, l.db, "keeping a permission", func(tx *sql.Tx) error {
		return sqlite.MustHit(ctx, tx, ErrNotFound, `UPDATE delegations
			SET question = json_set(question, '$.allowed', json(iif(?, 'true', 'false')))
			WHERE ended = 0 AND question <> '' AND question ->> '$.id' = ? AND question ->> '$.allowed' IS NULL`,
			allowed, question)
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
