package session

import (
	"encoding/json"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// record appends events of a session to the file of events. In the file a session's first event is Opened, so that
// events from before it wait in deferred.
func (c *Connection) record(s *Session, what ...eventlog.Event) {
	switch {
	case s.Hidden || c.o.Events == nil:
	case s.opened:
		s.recorded += len(what)
		c.o.Events.Append(what...)
	default:
		s.deferred = append(s.deferred, what...)
	}
	c.Touch(s)
}

// recordOpened appends the event that the harness has the session, unless that is in the file, and then what was
// deferred. It is called once the ledger has been asked, or at the first turn at the latest, so that the event holds
// what the ledger knew.
func (c *Connection) recordOpened(s *Session) {
	if s.opened || s.Hidden || !s.Live && s.Row == 0 || c.o.Events == nil {
		return
	}
	s.opened = true
	s.Who.Key = OrNewKey(s.Who.Key)
	c.record(s, s.openedEvent())
	before := s.deferred
	s.deferred = nil
	c.record(s, before...)
}

// openedEvent returns the event that opens the session in the file. A parent or predecessor that this process has
// opened too is named by its number, as the ledger may not have a row of it yet.
func (s *Session) openedEvent() eventlog.Opened {
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

// Unfolded reports whether the file of events may hold events of the session that are not folded into the ledger, and
// how many events of it the file holds.
func (s *Session) Unfolded() (events int, behind bool) { return s.recorded, s.recorded > s.folded }

// FoldedUpTo notes that the ledger has the session's first events, as many as these.
func (s *Session) FoldedUpTo(events int) { s.folded = max(s.folded, events) }

// setKey gives a session a Signet key. spent is an earlier key with which a session-start was sent whose outcome is not
// known; "" for none.
func (c *Connection) setKey(s *Session, key, spent string) {
	if s.Who.Key == key {
		return
	}
	s.Who.Key = key
	if s.opened || spent != "" {
		c.record(s, eventlog.Rekeyed{Session: s.Number, Key: key, Spent: spent})
	}
}

// FoundRecord notes the record id that acpx has for a session.
func (c *Connection) FoundRecord(s *Session, record string) {
	if s.Open.Record == record {
		return
	}
	s.Open.Record = record
	c.record(s, eventlog.RecordKnown{Session: s.Number, Record: record})
}

// FoundParent notes the key of the session whose agent started a new one.
func (c *Connection) FoundParent(s *Session, key string) {
	s.Who.ParentKey, s.Open.ParentKey = key, key
	if s.opened && key != "" {
		c.record(s, eventlog.ParentKnown{Session: s.Number, Key: key})
	}
}

// StoreContext stores the context that was fetched, for a later process to use if this one does not. stored is its JSON
// without secrets; nil stores nothing.
func (c *Connection) StoreContext(f *Fetch, stored json.RawMessage) {
	f.stored = stored
	c.storeContext(f)
}

func (c *Connection) storeContext(f *Fetch) {
	if f.stored != nil && !f.used {
		c.record(f.Session, eventlog.ContextStored{
			Session: f.Session.Number, Key: f.Key, Fetched: f.Got.Fetched, Context: f.stored,
		})
	}
}

// dropStoredContext removes the context that was stored for a session, also one whose event is still deferred.
func (c *Connection) dropStoredContext(s *Session) {
	s.deferred = slices.DeleteFunc(s.deferred, func(e eventlog.Event) bool {
		_, kept := e.(eventlog.ContextStored)
		return kept
	})
	c.record(s, eventlog.ContextDropped{Session: s.Number})
}
