package backfill

import (
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// A Conversation is what a harness has written down of one session.
type Conversation struct {
	Agent        string   // the harness: claude, codex, …
	ID           string   // its own id, which is the ACP sessionId where ACP was spoken
	Cwd          string   // "" where the harness does not say
	OtherFolders []string // further folders that it is about
	File         string   // the path that it was read from
	Parent       string   // the conversation whose agent has started it as a subagent; nobody: nobody says which
	Part         int      // a long conversation comes in parts, numbered from 0, in order
	Turns        []Turn
	LeftOut      map[string]int // messages by what they are: no one's words
}

const (
	maxPart = 4 << 20 // bytes of text, after which the turns so far make a part
	maxSide = 1 << 20 // bytes of one side of a turn; the rest of it is dropped
)

// A Turn is what the user said and what the agent answered.
type Turn struct {
	User           string
	Assistant      string // with chars.ToolMark where it called tools
	Tools          []Tool
	Stop           string    // ACP's stopReason; "" for a turn that came to its end
	Command        string    // the slash command that it is
	Notes          []string  // what the harness has put in by itself
	Started, Ended time.Time // zero where the harness does not say
	From           string    // the conversation that it was copied from, where the harness says so
}

// isOpen reports whether nothing was done about it yet.
func (t Turn) isOpen() bool { return t.Assistant == "" && len(t.Tools) == 0 && t.Stop == "" }

// Clean returns a turn as it may be stored: without what the user marked private, also where the agent repeats it, and
// without secrets. earlier is what was private in the conversation before it, all what is from then on.
func Clean(t Turn, earlier []string) (kept Turn, all []string) {
	user, private := privacy.WithoutPrivate(t.User)
	private = append(earlier, private...)
	t.User = privacy.Redact(user)
	t.Assistant = privacy.Clean(t.Assistant, private)
	for i, call := range t.Tools {
		t.Tools[i].Title = privacy.Clean(call.Title, private)
		for _, list := range [][]string{call.Paths, call.Steps} {
			for n, text := range list {
				list[n] = privacy.Clean(text, private)
			}
		}
	}
	return t, private
}

// nobody stands for a Parent that the harness does not name: it has started the subagent by itself.
const nobody = "nobody"

// HasParent reports whether it is a subagent's, and of a session that is named.
func (c Conversation) HasParent() (child, named bool) { return c.Parent != "", c.Parent != nobody }

// copied are turns that a branched conversation shares with the one that it was branched from.
const copied = "copy of another conversation"

const localCommand = "command that no agent answered"
