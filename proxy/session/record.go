package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// record has events of a session written. Among them a session's first event is Opened, so that
// events from before it wait in deferred.
func (c *Connection) record(s *Session, what ...correlation.Event) {
	c.touch(s)
	switch e := &s.exists; {
	case e.silence == hidden || len(what) == 0:
	case !e.recorded:
		e.deferred = append(e.deferred, what...)
	default:
		c.beside.Record(what...)
	}
}

// recordOpened records that the harness has the session, unless that is in the file, and then what was deferred. It is
// called once the ledger has been asked, or at the first turn at the latest, so that the event holds what the ledger
// knew.
func (c *Connection) recordOpened(s *Session) {
	e := &s.exists
	if e.recorded || e.silence == hidden || !e.live && e.row == 0 {
		return
	}
	e.Open.Key = c.orNewKey(e.Open.Key)
	before := e.deferred
	e.deferred, e.recorded = nil, true
	c.beside.Record(e.Opened)
	c.record(s, before...)
}

// recordBegun records that a turn has begun, after those before it, unless a prompt before it is still held.
func (c *Connection) recordBegun(t *Turn) {
	if t.Number != 0 || t.dropped {
		return
	}
	s := t.Session
	before := s.turns.open
	if i := slices.Index(before, t); i >= 0 {
		before = before[:i]
	}
	for _, u := range append(slices.Clone(before), t) {
		if u != t && u.step == turnWaits {
			return
		}
		if u.Number != 0 {
			continue
		}
		c.recordOpened(s)
		c.numbers.turn++
		u.Number = c.numbers.turn
		c.record(s, correlation.TurnBegan{Session: s.Number, Turn: u.Number, Key: s.exists.Open.Key,
			Command: u.command, Delegation: c.o.Delegation})
		c.markDue(u)
	}
}

// markDue notes that there is something of a turn to record.
func (c *Connection) markDue(t *Turn) {
	if !slices.Contains(c.waiting.due, t) {
		c.waiting.due = append(c.waiting.due, t)
	}
}

// setKey gives a session a Signet key. spent is an earlier key with which a session-start was sent whose outcome is not
// known; "" for none.
func (c *Connection) setKey(s *Session, key, spent string) {
	if s.exists.Open.Key == key {
		return
	}
	s.exists.Open.Key = key
	if s.exists.recorded || spent != "" {
		c.record(s, correlation.Rekeyed{Session: s.Number, Key: key, Spent: spent})
	}
}

func (c *Connection) storeContext(f *Fetch) {
	if f.stored != nil && f.step == fetched {
		c.record(f.session, correlation.ContextStored{
			Session: f.session.Number, Key: f.key, Fetched: f.got.Fetched, Context: f.stored,
		})
	}
}

// dropContext removes the context that was stored for a session, also if its event still waits.
func (c *Connection) dropContext(s *Session) {
	s.exists.deferred = slices.DeleteFunc(s.exists.deferred, func(e correlation.Event) bool {
		_, stored := e.(correlation.ContextStored)
		return stored
	})
	c.record(s, correlation.ContextDropped{Session: s.Number})
}

func (c *Connection) told(s *Session, text string) Told {
	return Told{s, s.exists.Open.Project, text, s.history.texts(), slices.Clone(s.history.private)}
}
