package session

import (
	"encoding/json"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// lookUp has the ledger asked because the client opens a session.
func (c *Connection) lookUp(l *Lookup) {
	l.Session.exists.ledger = asked
	c.change(l.Session)
	for _, before := range c.lookups {
		before.outdated = before.outdated || before.Session == l.Session
	}
	if l.of == nil {
		l.of = l.Session
	}
	c.lookups = append(c.lookups, l)
	c.beginLookups()
}

// beginLookups begins those that wait for no other.
func (c *Connection) beginLookups() {
	for _, l := range c.lookups {
		waits := slices.ContainsFunc(l.after, func(s *Session) bool { return !s.exists.ledger.answered() })
		if !l.begun && !waits {
			l.begun = true
			c.beside.LookUp(c.o.Context, c.filled(l))
		}
	}
}

// filled returns a look-up with what is known by the time it begins.
func (c *Connection) filled(l *Lookup) *Lookup {
	of := &l.of.exists
	l.Harness, l.Cwd, l.Had = c.harness(), l.Session.exists.Open.Cwd, of.row != 0 || of.recorded
	recorded := func(s *Session) bool { return s.exists.recorded }
	l.Recorded = recorded(l.Session) || slices.ContainsFunc(l.after, recorded)
	if l.Kind != OpensNew {
		l.ID = l.of.ID()
	}
	if l.failed != nil {
		l.Row = l.failed.exists.row
	}
	return l
}

// Found is what the ledger has for a look-up.
type Found struct {
	Record string               // for a new one: the connection's acpx record; "" for none
	Known  *correlation.Session // that was asked for, or that a new one continues; nil: the ledger has none
	Blocks []correlation.Injection
}

// Found takes what the ledger has for a look-up. It returns what else that has to find: the session's parent (orphan),
// and a context that is stored with one of some sessions.
func (c *Connection) Found(l *Lookup, f Found) (orphan bool, rows []int64) {
	s := l.Session
	e := &s.exists
	continued := int64(0) // a session whose stored context this one may use
	switch {
	case l.Kind == OpensNew:
		s.exists.Open.Record = f.Record
		if l.failed != nil {
			c.continueFailed(s, l.failed)
		}
		if f.Known != nil {
			continued = c.continueRecord(s, *f.Known, f.Blocks)
		}
	case f.Known != nil:
		c.adopt(l.of, *f.Known, f.Blocks)
	case l.Had: // a person has had it forgotten
		c.forget(l.of)
	}
	if l.Kind == OpensFork {
		c.fork(s, l)
	}
	c.change(s)
	if s.context.wants() && s.context.fetch.step == planned && !s.off() {
		rows = []int64{e.row, continued}
	}
	return e.row == 0 && e.Open.ParentKey == "" && !s.off(), rows
}

// adopt takes over what the ledger has of a session: its row, key, state and injections.
func (c *Connection) adopt(s *Session, row correlation.Session, blocks []correlation.Injection) {
	f := s.context.fetch
	keep := f.step != planned && s.exists.Open.Key != ""
	s.exists.adopt(row, keep)
	s.context.adopt(row.State)
	s.history.load(blocks, row)
	f.keyed = f.keyed || !keep
	f.patient = s.context.state == correlation.IdentityGiven && !s.injected()
}

// continueFailed makes a session continue the one whose load has just failed. It takes over a context that was not
// used, with its key.
func (c *Connection) continueFailed(s, failed *Session) {
	s.exists.Open.ContinueOf = failed.exists.row
	if failed.exists.row == 0 && failed.exists.recorded {
		s.exists.Continues = failed.Number
	}
	c.takeOverFetch(s, failed)
	if failed.exists.silence == off {
		c.switchOff(s)
	}
}

// continueRecord makes a session continue the newest one of the same acpx record. It returns the row of that one if its
// stored context may be used; 0: it has none.
func (c *Connection) continueRecord(s *Session, before correlation.Session, blocks []correlation.Injection) int64 {
	then := &Session{}
	then.context.adopt(before.State)
	then.history.load(blocks, before)
	s.exists.Open.ContinueOf, s.exists.Continues = before.ID, 0
	for _, old := range c.sessions { // its load failed on this connection, some time ago
		if old.exists.row == before.ID && !old.exists.live {
			c.takeOverFetch(s, old)
		}
	}
	switch {
	case !then.injected():
		return before.ID
	case before.State == correlation.Off:
		c.switchOff(s)
	}
	return 0
}

// fork makes s a fork of its parent as that was when the fork was requested. The harness copies the history, so s has
// its parent's blocks.
func (c *Connection) fork(s *Session, l *Lookup) {
	parent, state := l.of, l.then
	if !l.claimed { // another proxy may hold it, too, and have changed it
		state = parent.context.state
	}
	state, _, _ = state.On(correlation.Step{Name: correlation.Forked})
	s.context.adopt(state)
	s.exists.fork(parent, state)
	s.history.fork(&parent.history)
}

// LookedUp is what the ledger has said. After an error the next prompt asks again.
type LookedUp struct {
	None    bool // there is no ledger
	Err     error
	Unknown bool    // it does not have the session that it was asked for
	Parent  *string // the key of the session whose agent has started this one; nil: it was not looked for
	Key     string  // of a context that an earlier process has stored
	Context memory.Context
	Stored  json.RawMessage // its JSON; nil: there is none
}

// says is what the ledger has said by that.
func (l LookedUp) says(had bool) ledger {
	switch {
	case l.None:
		return none
	case l.Err != nil:
		return stale
	case l.Unknown && !had:
		return unknown
	}
	return known
}

// LookedUp ends a look-up.
func (c *Connection) LookedUp(of *Lookup, l LookedUp) {
	s := of.Session
	e := &s.exists
	of.ended = true
	c.lookups = slices.DeleteFunc(c.lookups, func(one *Lookup) bool { return one == of })
	if l.Parent != nil {
		e.Open.ParentKey = *l.Parent
		if e.recorded && *l.Parent != "" {
			c.record(s, correlation.ParentKnown{Session: s.Number, Key: *l.Parent})
		}
	}
	if l.Stored != nil {
		c.useStored(s, l)
	}
	says := l.says(of.Had)
	if !of.outdated {
		e.ledger = says
	}
	if parent := &of.of.exists; says == unknown && parent.ledger == known {
		parent.ledger = unknown
	}
	if l.None || l.Err == nil {
		e.Open.Key = c.orNewKey(e.Open.Key)
	}
	if says == known || says == unknown {
		c.settleDoubt(s, false)
		if s.off() {
			c.dropTurns(s)
		}
	}
	c.recordOpened(s)
	c.beginLookups()
	c.touch(s)
}

// useStored gives the session a context that an earlier process has stored, with the key that it was fetched under, in
// place of a fetch.
func (c *Connection) useStored(s *Session, l LookedUp) {
	f := &Fetch{session: s, key: l.Key, step: fetched, got: l.Context, stored: l.Stored}
	s.context.use(f)
	c.setKey(s, l.Key, "")
	c.storeContext(f) // it was taken out of the ledger, and is still not used
}
