package session

import (
	"encoding/json"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// Events are where what happens is written down; *eventlog.Log is one. Nothing here waits.
type Events interface {
	NewSession() int
	NewTurn() int
	Append(...eventlog.Event)
}

// append writes down what has happened to a session: at once, or behind the event that the session was opened.
func (c *Connection) append(s *Session, what ...eventlog.Event) {
	switch {
	case s.Hidden || c.o.Events == nil:
	case s.opened:
		s.told += len(what)
		c.o.Events.Append(what...)
	default:
		s.before = append(s.before, what...)
	}
	c.Touch(s)
}

// open writes down that the harness has a session, unless that stands there. It is later than all that is known of
// the session from the ledger, if the ledger answers before the first turn.
func (c *Connection) open(s *Session) {
	if s.opened || s.Hidden || !s.Live && s.Row == 0 || c.o.Events == nil {
		return
	}
	s.opened = true
	s.Who.Key = OrNewKey(s.Who.Key)
	c.append(s, s.event())
	before := s.before
	s.before = nil
	c.append(s, before...)
}

// event is that the session was opened.
func (s *Session) event() eventlog.Opened {
	o := s.Open
	o.Key, o.ACPID = s.Who.Key, s.ID
	e := eventlog.Opened{Session: s.Number, Open: o}
	if p := s.parent; p != nil && p.opened {
		e.Fork, e.Open.ForkOf = p.Number, 0
	}
	if p := s.failed; p != nil && p.opened && o.ContinueOf == 0 {
		e.Continues = p.Number
	}
	return e
}

// Behind reports whether the ledger may lack something of the session that stands in the file of events, and how much
// stands there.
func (s *Session) Behind() (events int, behind bool) { return s.told, s.told > s.folded }

// CaughtUp notes that the ledger has as many events of the session.
func (s *Session) CaughtUp(events int) { s.folded = max(s.folded, events) }

// setKey gives a session a key. Spent is an earlier one whose start is in doubt; "" for none.
func (c *Connection) setKey(s *Session, key, spent string) {
	if s.Who.Key == key {
		return
	}
	s.Who.Key = key
	if s.opened || spent != "" {
		c.append(s, eventlog.Rekeyed{Session: s.Number, Key: key, Spent: spent})
	}
}

// FoundRecord notes a session's name with its client.
func (c *Connection) FoundRecord(s *Session, record string) {
	if s.Open.Record == record {
		return
	}
	s.Open.Record = record
	c.append(s, eventlog.RecordKnown{Session: s.Number, Record: record})
}

// FoundParent notes the key of the session that a new one works for.
func (c *Connection) FoundParent(s *Session, key string) {
	s.Who.ParentKey, s.Open.ParentKey = key, key
	if s.opened && key != "" {
		c.append(s, eventlog.ParentKnown{Session: s.Number, Key: key})
	}
}

// Keep keeps a context with its session until it is used. stored is the context as it may be stored; nil if there is
// nothing to keep.
func (c *Connection) Keep(f *Fetch, stored json.RawMessage) {
	f.stored = stored
	c.keep(f)
}

func (c *Connection) keep(f *Fetch) {
	if f.stored != nil && !f.used {
		c.append(f.Session, eventlog.ContextStored{
			Session: f.Session.Number, Key: f.Key, Fetched: f.Got.Fetched, Context: f.stored,
		})
	}
}

// dropKept is that there is no context to keep.
func (c *Connection) dropKept(s *Session) {
	s.before = slices.DeleteFunc(s.before, func(e eventlog.Event) bool {
		_, kept := e.(eventlog.ContextStored)
		return kept
	})
	c.append(s, eventlog.ContextDropped{Session: s.Number})
}

// Closed ends a session that the client has closed or deleted: nothing is known of it any more once its last words
// are written down. If it is opened again it is looked up.
func (c *Connection) Closed(s *Session, method string) {
	for _, t := range slices.Clone(s.unanswered) {
		c.close(t)
	}
	c.open(s)
	s.Live = false
	if c.sessions[s.ID] == s {
		delete(c.sessions, s.ID)
	}
	c.leaving = append(c.leaving, leaving{s, method})
	c.Touch(s)
}

// leaving is a session that is closed once its last words are written down.
type leaving struct {
	session *Session
	reason  string
}

// Leaving writes down that sessions were closed, whose last words stand there by now, and reports whether there were
// any. One that is there again has not left.
func (c *Connection) Leaving() (any bool) {
	for _, l := range c.leaving {
		if again := c.sessions[l.session.ID]; again != nil && again.Live {
			continue
		}
		any = true
		c.append(l.session, eventlog.Left{Session: l.session.Number, Reason: l.reason})
	}
	c.leaving = nil
	return any
}

// Usage writes down what the harness says was used, in the turn that is under way or was last.
func (c *Connection) Usage(s *Session, t *Turn, usage correlation.Usage) {
	if s.Off {
		return
	}
	n := 0
	if t == nil {
		t = s.Turn()
	}
	if t != nil {
		c.begun(t)
		n = t.Number
	}
	c.append(s, eventlog.UsageReported{Session: s.Number, Turn: n, Usage: usage})
}

// Forgotten takes in that a person has had sessions forgotten: nothing more of them is kept.
func (c *Connection) Forgotten(numbers []int) {
	for _, s := range c.sessions {
		if slices.Contains(numbers, s.Number) {
			c.Forget(s)
		}
	}
}
