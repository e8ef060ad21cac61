package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// RecordingBegins: what is due is to be recorded now (Do.Due). The recorder redacts it and comes back with Recorded.
type RecordingBegins struct{}

func (RecordingBegins) on(c *Connection) {
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
			Private: slices.Clone(h.private),
		}
		if t.prompt != nil {
			d.Prompts = append(d.Prompts, t.prompt)
		}
		d.Prompts = append(d.Prompts, t.steered...)
		t.prompt, t.steered = nil, nil
		c.do.Due.Turns = append(c.do.Due.Turns, d)
	}
	clear(w.due[len(kept):])
	w.due = kept
	for _, s := range w.titles {
		c.do.Due.Titles = append(c.do.Due.Titles, c.told(s, s.history.title))
	}
	c.do.Due.Summaries = w.summaries
	w.titles, w.summaries = nil, nil
}

// Recorded: events of a session, redacted. Turn is the turn that they are of; nil: of none. Private are passages that
// nothing recorded may repeat from now on; Do.Private are all of these.
type Recorded struct {
	Session *Session
	Turn    *Turn
	Events  []correlation.Event
	Private []string
}

func (r Recorded) on(c *Connection) {
	r.Session.history.private = append(r.Session.history.private, r.Private...)
	if r.Turn == nil || !r.Turn.dropped {
		c.record(r.Session, r.Events...)
	}
	c.do.Private = slices.Clone(r.Session.history.private)
}

// RecordingEnds: all that was due is recorded. Closings of sessions follow their last words. A session that was opened
// again meanwhile has not left. Do.Gone are those that nobody will use any more; Do.Closed says that some were closed.
type RecordingEnds struct{}

func (RecordingEnds) on(c *Connection) {
	for _, l := range c.waiting.closed {
		if again := c.sessions[l.session.ID()]; again != nil && again.exists.live {
			continue
		}
		c.waiting.gone = append(c.waiting.gone, l.session)
		c.do.Closed = true
		c.record(l.session, correlation.Closed{Session: l.session.Number(), Reason: l.reason})
	}
	c.do.Gone = c.waiting.gone
	c.waiting.closed, c.waiting.gone = nil, nil
}
