package session

import (
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// lookUp has the ledger asked because the client opens a session.
func (c *Connection) lookUp(l Lookup) {
	l.Session.exists.ledger = asked
	l.Session.exists.looks++
	l.n = l.Session.exists.looks
	if l.of == nil {
		l.of = l.Session
	}
	c.lookups = append(c.lookups, l)
	c.beginLookups()
}

func (c *Connection) lookUpFork(s, parent *Session, id string) {
	l := Lookup{Session: s, Kind: OpensFork, of: parent}
	if parent == nil { // this connection does not have it
		l.of = &Session{ID: id, context: context{state: correlation.Armed}}
	} else {
		l.after = []*Session{parent}
	}
	l.then = forkPoint{l.of.context.state, l.of.context.claims}
	c.lookUp(l)
}

// lookUpAgain asks the ledger again about a session.
func (c *Connection) lookUpAgain(s *Session) Lookup {
	return c.filled(Lookup{Session: s, Kind: OpensKnown, of: s})
}

// beginLookups begins those that wait for no other.
func (c *Connection) beginLookups() {
	var waiting []Lookup
	for _, l := range c.lookups {
		ready := true
		for _, before := range l.after {
			ready = ready && before.exists.ledger != asked
		}
		if ready {
			c.do.Lookups = append(c.do.Lookups, c.filled(l))
		} else {
			waiting = append(waiting, l)
		}
	}
	c.lookups = waiting
}

// filled returns a look-up with what is known by the time it begins.
func (c *Connection) filled(l Lookup) Lookup {
	l.Harness, l.Cwd, l.Had = c.harness(), l.Session.exists.who.Cwd, l.of.exists.inLedger()
	l.First = append([]*Session{l.Session}, l.after...)
	if l.Kind != OpensNew {
		l.ID = l.of.ID
	}
	if l.failed != nil {
		l.Row = l.failed.exists.row
	}
	return l
}

// Found: what the ledger has for a look-up. Do.Orphan says that the session's parent is needed, and Do.Rows which
// sessions' stored contexts would be of use.
type Found struct {
	Lookup Lookup
	Record string               // for a new one: the connection's acpx record; "" for none
	Known  *correlation.Session // that was asked for, or that a new one continues; nil: the ledger has none
	Blocks []correlation.Injection
}

func (f Found) on(c *Connection) {
	l, s := f.Lookup, f.Lookup.Session
	switch {
	case l.Kind == OpensNew:
		s.exists.open.Record = f.Record
		if l.failed != nil {
			c.continueFailed(s, l.failed)
		}
		if f.Known != nil {
			c.continueRecord(s, *f.Known, f.Blocks)
		}
	case f.Known != nil:
		c.adopt(l.of, *f.Known, f.Blocks)
	case l.Had: // a person has had it forgotten
		c.forget(l.of)
	}
	if l.Kind == OpensFork {
		c.fork(s, l.of, l.then)
	}
	e := &s.exists
	c.do.Orphan, c.do.Who = e.row == 0 && e.who.ParentKey == "" && !s.off(), e.who
	if s.context.wants() && s.context.fetch == nil && !s.off() {
		c.do.Rows = []int64{e.row, e.continued}
	}
}

// adopt takes over what the ledger has of a session: its row, key, state and injections.
func (c *Connection) adopt(s *Session, row correlation.Session, blocks []correlation.Injection) {
	keep := s.context.fetch != nil && s.exists.who.Key != ""
	s.exists.adopt(row, keep)
	s.context.keyed = s.context.keyed || !keep
	s.context.adopt(row.State)
	s.history.load(blocks, row)
	s.context.patient = s.context.state == correlation.IdentityGiven && !s.injected()
}

// continueFailed makes a session continue the one whose load has just failed. It takes over a context that was not
// used, with its key.
func (c *Connection) continueFailed(s, failed *Session) {
	s.exists.open.ContinueOf, s.exists.failed = failed.exists.row, failed
	c.takeOverFetch(s, failed)
	if failed.exists.silence == off {
		c.switchOff(s)
	}
}

// continueRecord makes a session continue the newest one of the same acpx record.
func (c *Connection) continueRecord(s *Session, before correlation.Session, blocks []correlation.Injection) {
	then := &Session{}
	then.context.adopt(before.State)
	then.history.load(blocks, before)
	s.exists.open.ContinueOf = before.ID
	for _, old := range c.sessions { // its load failed on this connection, some time ago
		if old.exists.row == before.ID && !old.exists.live {
			c.takeOverFetch(s, old)
		}
	}
	switch {
	case !then.injected():
		s.exists.continued = before.ID
	case before.State == correlation.Off:
		c.switchOff(s)
	}
}

// fork makes s a fork of parent as it was then. The harness copies the history, so s has its parent's blocks.
func (c *Connection) fork(s, parent *Session, then forkPoint) {
	state := then.state
	if parent.context.claims == then.claims { // another proxy may hold it, too, and have changed it
		state = parent.context.state
	}
	state, _, _ = state.On(correlation.Step{Name: correlation.Forked})
	s.context.adopt(state)
	s.exists.fork(parent, state)
	s.history.fork(&parent.history)
}

// LookedUp: the ledger has been asked. After an error the next prompt asks again.
type LookedUp struct {
	Lookup  Lookup
	None    bool // there is no ledger
	Err     error
	Unknown bool    // it does not have the session that it was asked for
	Parent  *string // the key of the session whose agent has started this one; nil: it was not looked for
	Key     string  // of a context that an earlier process has stored
	Context memory.Context
	Stored  json.RawMessage // its JSON; nil: there is none
}

// says is what the ledger has said by that.
func (l LookedUp) says() ledger {
	switch {
	case l.None:
		return none
	case l.Err != nil:
		return stale
	case l.Unknown && !l.Lookup.Had:
		return unknown
	}
	return known
}

func (l LookedUp) on(c *Connection) {
	s := l.Lookup.Session
	e := &s.exists
	if l.Parent != nil {
		e.who.ParentKey, e.open.ParentKey = *l.Parent, *l.Parent
		if e.events.opened && *l.Parent != "" {
			c.record(s, correlation.ParentKnown{Session: s.Number, Key: *l.Parent})
		}
	}
	if l.Stored != nil {
		c.useStored(s, l)
	}
	says := l.says()
	if l.Lookup.n == 0 || l.Lookup.n == e.looks { // the client has not opened it again meanwhile
		e.ledger = says
	}
	if parent := &l.Lookup.of.exists; says == unknown && parent.ledger == known {
		parent.ledger = unknown
	}
	if l.None || l.Err == nil {
		e.who.Key = c.orNewKey(e.who.Key)
	}
	if says == known || says == unknown {
		c.settleDoubt(s, false)
		if s.off() {
			c.dropTurns(s)
		}
		c.recordOpened(s)
	}
	if l.Lookup.n > 0 {
		c.recordOpened(s)
		c.beginLookups()
	}
	c.touch(s)
	c.do.News = true
}

// Unfolded: the ledger is asked about sessions. Do.Behind are those of which it may not have all that was recorded.
type Unfolded struct{ About []*Session }

func (u Unfolded) on(c *Connection) {
	c.do.Behind = behind(u.About...)
}

func behind(sessions ...*Session) (all []Behind) {
	for _, s := range sessions {
		if e := &s.exists.events; e.recorded > e.folded {
			all = append(all, Behind{s, e.recorded})
		}
	}
	return all
}

// Folded: the ledger has so many events of sessions.
type Folded struct{ UpTo []Behind }

func (f Folded) on(*Connection) {
	for _, b := range f.UpTo {
		b.Session.exists.events.folded = max(b.Session.exists.events.folded, b.Events)
	}
}

// useStored gives the session a context that an earlier process has stored, with the key that it was fetched under, in
// place of a fetch.
func (c *Connection) useStored(s *Session, l LookedUp) {
	f := &Fetch{session: s, key: l.Key, step: fetched, got: l.Context, stored: l.Stored}
	s.context.fetch, s.context.keyed = f, true
	c.setKey(s, l.Key, "")
	c.storeContext(f) // it was taken out of the ledger, and is still not used
}
