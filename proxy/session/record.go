package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// waiting is what is still to be redacted and recorded.
type waiting struct {
	due       []*Turn
	unread    int // bytes of prompts that wait to be read
	lost      int // bytes of turns that could not be kept
	titles    []*Session
	summaries []Told
	closed    []closedSession
	released  []func() // to be called, because their sessions have gone
}

// closedSession is a session that the client has closed, with the method that did it. That is recorded only after its
// last words.
type closedSession struct {
	session *Session
	reason  string
}

// record has events of a session appended to the file of events. In the file a session's first event is Opened, so that
// events from before it wait in deferred.
func (c *Connection) record(s *Session, what ...eventlog.Event) {
	if s.exists.silence != hidden {
		c.do.Record = append(c.do.Record, s.exists.events.record(what...)...)
	}
	c.touch(s)
}

// recordOpened records that the harness has the session, unless that is in the file, and then what was deferred. It is
// called once the ledger has been asked, or at the first turn at the latest, so that the event holds what the ledger
// knew.
func (c *Connection) recordOpened(s *Session) {
	e := &s.exists
	if e.events.opened || e.silence == hidden || !e.live && e.row == 0 {
		return
	}
	e.who.Key = c.orNewKey(e.who.Key)
	before := e.events.deferred
	e.events.opened, e.events.deferred = true, nil
	c.record(s, e.opened(s.ID, s.Number))
	c.record(s, before...)
}

func (c *Connection) recordKey(s *Session, key, spent string) {
	c.record(s, eventlog.Rekeyed{Session: s.Number, Key: key, Spent: spent})
}

// recordBegun records that a turn has begun, after those before it, unless a prompt before it is still held.
func (c *Connection) recordBegun(t *Turn) {
	if t.Number != 0 || t.dropped {
		return
	}
	s := t.Session
	for _, u := range s.turns.upTo(t) {
		if u.Number != 0 {
			continue
		}
		c.recordOpened(s)
		key := s.exists.who.Key
		if key == "" && s.exists.events.opened {
			key = c.o.NewKey()
		}
		c.numbers.turn++
		u.Number = c.numbers.turn
		c.record(s, eventlog.TurnBegan{Session: s.Number, Turn: u.Number, Key: key, Command: u.command,
			Delegation: c.o.Delegation})
		c.recordTrace(u)
		c.markDue(u)
	}
}

func (c *Connection) recordTrace(t *Turn) {
	if t.trace != "" {
		c.record(t.Session, eventlog.TraceKnown{Turn: t.Number, Parent: t.trace})
	}
}

// markDue notes that there is something of a turn to record.
func (c *Connection) markDue(t *Turn) {
	if !t.due {
		t.due = true
		c.waiting.due = append(c.waiting.due, t)
	}
}

// RecordingBegins: what is due is to be recorded now (Do.Due). The recorder redacts it and comes back with Recorded.
type RecordingBegins struct{}

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
	Blocks  []string // our own texts, which its answer may repeat and must not be stored with
	Private []string // passages that nothing recorded may repeat
}

// Told is what a harness says about a conversation: a title, or its own summary. Before it is stored, our Blocks and
// the user's Private passages have to be taken out.
type Told struct {
	Session         *Session
	Project, Text   string
	Blocks, Private []string
}

func (c *Connection) told(s *Session, text string) Told {
	return Told{s, s.exists.who.Project, text, s.history.texts(), slices.Clone(s.history.private)}
}

func (RecordingBegins) on(c *Connection) {
	w := &c.waiting
	w.unread = 0 // turns that have not begun hold little
	kept := w.due[:0]
	for _, t := range w.due {
		if t.Number == 0 && !t.dropped { // it has not begun
			kept = append(kept, t)
			continue
		}
		t.due = false
		h := &t.Session.history
		d := DueTurn{
			Turn: t, Number: t.Number, Tools: t.takeTools(), Ended: t.ended, Off: t.dropped,
			Project: t.Session.exists.who.Project,
			Blocks:  h.texts(), Private: slices.Clone(h.private),
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
	Events  []eventlog.Event
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
// again meanwhile has not left. Do.Release are to be called, and Do.Left says that sessions were closed.
type RecordingEnds struct{}

func (RecordingEnds) on(c *Connection) {
	for _, l := range c.waiting.closed {
		if again := c.sessions[l.session.ID]; again != nil && again.exists.live {
			continue
		}
		c.release(l.session)
		c.do.Left = true
		c.record(l.session, eventlog.Left{Session: l.session.Number, Reason: l.reason})
	}
	c.do.Release = c.waiting.released
	c.waiting.closed, c.waiting.released = nil, nil
}
