package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Due is what is to be recorded, in the order in which it came up.
type Due struct {
	Turns     []DueTurn
	Titles    []Told
	Summaries []Told
}

// DueTurn is what is to be recorded of a turn.
type DueTurn struct {
	Turn    *Turn
	Number  int
	Prompts []Prompt // the prompt, and what the user said later in the turn
	Tools   []correlation.ToolCall
	Ended   bool
	Off     bool // nothing of it is to be recorded
	Project string
	Private []string // passages that nothing recorded may repeat
}

// TakeDue returns what is to be recorded now. The recorder redacts it and comes back with Recorded.
func (c *Connection) TakeDue() (due Due) {
	w := &c.waiting
	w.unread = 0 // turns that have not begun hold little
	kept := w.due[:0]
	for _, t := range w.due {
		if t.Number == 0 && !t.dropped { // it has not begun
			kept = append(kept, t)
			continue
		}
		h := &t.Session.history
		d := DueTurn{
			Turn: t, Number: t.Number, Tools: t.takeTools(), Ended: t.step == turnEnded, Off: t.dropped,
			Project: t.Session.exists.Open.Project,
			Prompts: t.prompts, Private: slices.Clone(h.private),
		}
		t.prompts = nil
		due.Turns = append(due.Turns, d)
	}
	clear(w.due[len(kept):])
	w.due = kept
	for _, s := range w.titles {
		due.Titles = append(due.Titles, c.told(s, s.history.title))
	}
	due.Summaries = w.summaries
	w.titles, w.summaries = nil, nil
	return due
}

// Recorded takes events of a session, redacted, and of a turn of it; nil: of none. private are passages that nothing
// recorded may repeat from now on; it returns all of these.
func (c *Connection) Recorded(s *Session, t *Turn, private []string, events ...correlation.Event) []string {
	s.history.private = append(s.history.private, private...)
	if t == nil || !t.dropped {
		c.record(s, events...)
	}
	return slices.Clone(s.history.private)
}

// RecordClosings records that sessions were closed, once all that was due is recorded, and reports whether there were
// any. A session that was opened again meanwhile has not left. releases are of what nobody will use any more.
func (c *Connection) RecordClosings() (closed bool, releases []func()) {
	for _, s := range c.waiting.closed {
		if again := c.sessions[s.ID()]; again != nil && again.exists.live {
			continue
		}
		c.waiting.gone = append(c.waiting.gone, s)
		closed = true
		c.record(s, correlation.Closed{Session: s.Number, Reason: s.exists.closedBy})
	}
	for _, s := range c.waiting.gone {
		releases = append(releases, s.releases...)
		s.releases = nil
	}
	c.waiting.closed, c.waiting.gone = nil, nil
	return closed, releases
}
