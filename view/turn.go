package view

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Limits of what a page holds of conversations: the newest turns, and the beginning of a long text. The rest is
// counted.
const (
	maxTurns = 10_000
	maxText  = 16 << 10 // bytes of one side of a turn
	maxTexts = 24 << 20 // of all turns
	maxLive  = 1 << 20  // bytes of one side of a turn, of the one session that a live page shows
)

// A Turn is a turn as the page shows it.
type Turn struct {
	N           int
	At          time.Time
	Took        time.Duration
	User, Agent Text
	By          string // the agent that said User, in a delegation; "": you
	Note        string // how it ended, unless as usual
	Told        []Insertion
	Tools       []correlation.ToolCall
	Used        string // tokens in words

	id    int64
	in    string // the delegation in which User was said
	ended time.Time
}

// A turnOf is a turn and the session that it belongs to.
type turnOf struct {
	*Turn
	session int64
}

// readTurns reads the newest turns of a choice, oldest first.
func readTurns(ctx context.Context, sessions *correlation.Store, of choice) ([]turnOf, error) {
	room := maxTexts
	var turns []turnOf
	err := sessions.NewestTurns(ctx, of.turns, of.text, maxTurns, func(e correlation.Excerpt) {
		t := &Turn{id: e.ID, in: e.Delegation, At: e.Started, ended: e.Ended, Tools: e.Tools, User: Text{Body: e.User},
			Agent: Text{Body: e.Assistant}, Note: HowItEnded(!e.Ended.IsZero(), e.Stop, e.Code, e.Truncated)}
		if !e.Ended.IsZero() {
			t.Took = e.Ended.Sub(e.Started)
		}
		t.User.cut(e.UserSize, of.text)
		t.Agent.cut(e.AssistantSize, of.text)
		if room >= 0 {
			room -= len(t.User.Body) + len(t.Agent.Body)
		}
		if room >= 0 {
			turns = append(turns, turnOf{t, e.Session})
		}
	})
	slices.Reverse(turns)
	return turns, err
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
