package session

import (
	"encoding/json"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

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
