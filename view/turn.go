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
	maxTexts = 16 << 20 // of all turns: 20 MB of page
	maxLive  = 1 << 20  // bytes of one side of a turn, of the one session that a live page shows
)

// A turn is a turn as the page shows it.
type turn struct {
	N           int
	At          time.Time
	Took        time.Duration
	User, Agent excerpt
	By          string // the agent that said User, in a delegation; "": you
	Note        string // how it ended, unless as usual
	Told        []insertion
	Tools       []correlation.ToolCall
	Used        string // tokens in words

	Session *session // that it is in

	id    int64
	of    int64  // the session's row
	in    string // the delegation in which User was said
	ended time.Time
}

// readTurns reads the newest turns of a choice, oldest first.
func readTurns(ctx context.Context, sessions correlation.Book, of choice) ([]*turn, error) {
	room := maxTexts
	var turns []*turn
	err := sessions.NewestTurns(ctx, of.turns, of.text, maxTurns, func(e correlation.Excerpt) {
		t := &turn{id: e.ID, of: e.Session, in: e.Delegation, At: e.Started, ended: e.Ended, Tools: e.Tools,
			User: excerpt{Body: e.User}, Agent: excerpt{Body: e.Assistant},
			Note: HowItEnded(!e.Ended.IsZero(), e.Stop, e.Code, e.Truncated)}
		if !e.Ended.IsZero() {
			t.Took = e.Ended.Sub(e.Started)
		}
		t.User.cut(e.UserSize, of.text)
		t.Agent.cut(e.AssistantSize, of.text)
		if room >= 0 {
			room -= len(t.User.Body) + len(t.Agent.Body)
		}
		if room >= 0 {
			turns = append(turns, t)
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

// A choice says what to read.
type choice struct {
	turns    correlation.Scope // of which turns are read, with their sessions
	sessions []int64           // that are read besides
	text     int               // bytes of one side of a turn; 0: none, and nothing of what was inserted
}

// insertion is a block that was inserted.
type insertion struct {
	What    string // such as "3 memories, 1.1 KB"
	Source  string
	Waited  string // how long it took, in words
	Outcome string // what became of it, in words
	Block   excerpt
	Items   []item

	at time.Time
}

// An item is a memory, a passage of a conversation, or a file, in a block.
type item struct {
	ID     string
	Text   excerpt // the beginning
	File   string  // its path; "" for another item
	Shown  bool    // it is among the page's memories
	Became string  // whether it was of use, in words
}
