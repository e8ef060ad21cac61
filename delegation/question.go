package delegation

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
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
		Title: chars.Printable(clean(chars.Cut(d.Agent+", your delegated agent, asks: "+nameOf(call), 300)))}
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
		return false, "no one is there to ask"
	}
	if l.setQuestion(ctx, d.ID, column(q)) != nil {
		return false, "no one could be asked"
	}
	defer func() { _ = l.setQuestion(context.WithoutCancel(ctx), d.ID, "") }() // the run's end makes it void, too
	tick := time.NewTicker(answerEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, "no answer"
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

// Questions returns what wants an answer of the clients of sessions, by their keys, unless its runner was killed.
func (l *Ledger) Questions(ctx context.Context, keys []string) (all []Question, err error) {
	err = sqlite.Each(ctx, l.db, func(row sqlite.Row) error {
		var q Question
		var runner string
		var text []byte
		err := row.Scan(&q.Key, &runner, &text)
		if err == nil {
			err = json.Unmarshal(text, &q)
		}
		if correlation.Alive(l.live, runner) {
			all = append(all, q)
		}
		return err
	}, `SELECT caller, runner, question FROM delegations WHERE ended = 0 AND state = ? AND question <> ''
		AND question ->> '$.allowed' IS NULL AND caller IN (SELECT value FROM json_each(?))`, Running,
		sqlite.List(keys))
	return all, sqlite.While("looking for requests for permission", err)
}

// Answer stores what the client said to a question, if it is still waited for.
func (l *Ledger) Answer(ctx context.Context, question string, allowed bool) error {
	_, err := l.db.ExecContext(ctx, `UPDATE delegations
		SET question = json_set(question, '$.allowed', json(iif(?, 'true', 'false')))
		WHERE ended = 0 AND question <> '' AND question ->> '$.id' = ? AND question ->> '$.allowed' IS NULL`, allowed,
		question)
	return sqlite.While("keeping a permission", err)
}
