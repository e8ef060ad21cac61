package session

import (
	"slices"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// written is a file of events that a test reads.
type written struct {
	sessions, turns int
	events          []eventlog.Event
}

func (w *written) NewSession() int { w.sessions++; return w.sessions }
func (w *written) NewTurn() int    { w.turns++; return w.turns }

func (w *written) Append(events ...eventlog.Event) { w.events = append(w.events, events...) }

type unreadPrompt struct{}

func (unreadPrompt) Words() (string, []string) { return "go", nil }
func (unreadPrompt) Omitted() int              { return 0 }
func (unreadPrompt) Size() int                 { return len("go") }
func (unreadPrompt) Release()                  {}

// A prompt is read only after it was forwarded, and a quick harness is at work by then. Whatever comes first begins the
// turn in the file of events, once: if the process is killed now, a turn without a prompt shows what was done.
func TestTurnBeginsBeforeItsPromptIsRead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first func(*Connection, *Turn)
	}{
		{"a tool call", func(c *Connection, turn *Turn) { c.ToolCall(turn.Session, correlation.ToolCall{ID: "1"}) }},
		{"words", func(c *Connection, turn *Turn) {
			turn.Answer.Add([]byte("There it is."))
			c.AnswerGrew(turn)
		}},
		{"what was used", func(c *Connection, turn *Turn) { c.Usage(turn.Session, nil, correlation.Usage{}) }},
		{"steering", func(c *Connection, turn *Turn) { c.Steer(turn.Session, unreadPrompt{}) }},
		{"the prompt", func(c *Connection, turn *Turn) { c.PromptRead(turn, unreadPrompt{}) }},
		{"the response of a later prompt", func(c *Connection, turn *Turn) { c.closeUnanswered(turn) }},
		{"the response", func(c *Connection, turn *Turn) {
			c.EndTurn(Request{Session: turn.Session, Turn: turn}, "2", false, StopEnd, 0)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := &written{}
			c := newTestConnection(Options{Events: file})
			s, _ := c.RequestNew("/x")
			c.Opened(s, true, "s1")
			turn := c.BeginTurn(s)
			c.PromptForwarded(turn)
			tt.first(c, turn)
			began := func(e eventlog.Event) bool { _, is := e.(eventlog.TurnBegan); return is }
			if !slices.ContainsFunc(file.events, began) {
				t.Fatalf("the turn has not begun: %+v", file.events)
			}
			c.PromptRead(turn, unreadPrompt{})
			if file.turns != 1 {
				t.Errorf("the turn began %d times", file.turns)
			}
			if due := c.TakeDue(); len(due) != 1 || due[0].Prompt == nil {
				t.Errorf("due is %+v", due)
			}
		})
	}
}
