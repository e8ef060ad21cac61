package view

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Limits of what a page holds of conversations: the newest turns, and the beginning of a long text. The rest is
// counted.
const (
	mostTurns = 10_000
	mostText  = 16 << 10 // bytes of one side of a turn
	mostTexts = 24 << 20 // of all turns
)

// A Turn is a turn as the page shows it.
type Turn struct {
	N           int
	At          time.Time
	Took        time.Duration
	User, Agent Text
	Note        string // how it ended, unless as usual
	Told        []Insertion
	Tools       []correlation.ToolCall
	Used        string // tokens in words

	id    int64
	ended time.Time
}

// A turnOf is a turn and the session that it belongs to.
type turnOf struct {
	*Turn
	session int64
}

// readTurns reads the newest turns, oldest first; only, if not 0, is the session to read.
func readTurns(ctx context.Context, db *sql.DB, only int64) ([]turnOf, error) {
	room := mostTexts
	full := false
	turns, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (t turnOf, err error) {
		t.Turn = &Turn{}
		var started, ended int64
		var code, user, agent int
		var truncated bool
		var stop, tools string
		err = row.Scan(&t.id, &t.session, &started, &ended, &stop, &code, &truncated, &tools,
			&t.User.Body, &user, &t.Agent.Body, &agent)
		if err != nil {
			return t, err
		}
		t.At, t.ended = sqlite.Unstamp(started), sqlite.Unstamp(ended)
		if ended > 0 {
			t.Took = t.ended.Sub(t.At)
		}
		t.User.cut(user, mostText)
		t.Agent.cut(agent, mostText)
		t.Note = HowItEnded(ended > 0, stop, code, truncated)
		if room -= len(t.User.Body) + len(t.Agent.Body); room < 0 {
			full = true
		}
		if full {
			t.Turn = nil
			return t, nil
		}
		return t, json.Unmarshal([]byte(tools), &t.Tools)
	}, `SELECT id, session, started, ended, stop, code, truncated, tools, substr(user, 1, ?1), octet_length(user),
		substr(answer, 1, ?1), octet_length(answer)
		FROM (SELECT *, replace(assistant, '`+chars.ToolMark+`', '') AS answer FROM turns WHERE ?2 = 0 OR session = ?2)
		ORDER BY started DESC, id DESC LIMIT ?3`, mostText, only, mostTurns)
	if err != nil {
		return nil, sqlite.While("reading turns", err)
	}
	turns = slices.DeleteFunc(turns, func(t turnOf) bool { return t.Turn == nil })
	slices.Reverse(turns)
	return turns, nil
}

// HowItEnded says in words what is unusual about a turn's end, "" for nothing: why it stopped, or the code of the error
// that it failed with.
func HowItEnded(ended bool, stop string, code int, truncated bool) string {
	var notes []string
	switch {
	case !ended:
		notes = append(notes, "still answering")
	case code != 0:
		notes = append(notes, fmt.Sprintf("failed with error %d", code))
	case stop == "":
		notes = append(notes, "ended without an answer to the prompt")
	case stop != "end_turn":
		notes = append(notes, strings.ReplaceAll(stop, "_", " "))
	}
	if truncated {
		notes = append(notes, "longer than what is kept")
	}
	return strings.Join(notes, "; ")
}
