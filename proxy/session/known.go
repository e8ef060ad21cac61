package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Adopt makes a session of the ledger's known one.
func (c *Connection) Adopt(s *Session, known correlation.Session, blocks []correlation.Injection) {
	s.Row, s.Open.Harness, s.stranger = known.ID, known.Harness, false
	if s.Who.Cwd == "" {
		s.Who.Cwd, s.Who.Project = known.Cwd, known.Project
	}
	if s.fetch == nil || s.Who.Key == "" {
		s.Who.Key, s.keyed = known.Key, true
	}
	s.Off = s.Off || known.State == correlation.Off
	s.know(known.State)
	s.take(blocks, known)
	s.placed = s.state == correlation.IdentityGiven && s.Untold()
	if known.ParentKey != "" {
		s.Who.ParentKey = known.ParentKey
	}
	c.wake(s)
}

// Stands reports whether the ledger has known the session.
func (s *Session) Stands() bool { return s.Row != 0 || s.folded > 0 }

// Unknown notes that the ledger does not know a session that the client opens by its id. stood says that it knew it
// before it was asked: then a person has had it forgotten.
func (c *Connection) Unknown(s *Session, stood bool) {
	if stood {
		c.Forget(s)
		return
	}
	s.stranger = true
}

// ContinueFailed makes a session continue the one whose load has just failed: it gets the context that was not used,
// with its key.
func (c *Connection) ContinueFailed(s, failed *Session) {
	s.Open.ContinueOf, s.failed = failed.Row, failed
	c.takeOver(s, failed)
	if failed.Off && !failed.Hidden {
		c.SwitchOff(s)
	}
}

// Continue makes a session continue the last one of the same record, which the ledger knows.
func (c *Connection) Continue(s *Session, before correlation.Session, blocks []correlation.Injection) {
	then := &Session{Row: before.ID}
	then.know(before.State)
	then.take(blocks, before)
	s.Open.ContinueOf = before.ID
	for _, old := range c.sessions { // its load failed on this connection, some time ago
		if old.Row == before.ID && !old.Live {
			c.takeOver(s, old)
		}
	}
	switch {
	case then.Untold():
		s.Predecessor = before.ID
	case before.State == correlation.Off:
		c.SwitchOff(s)
	}
}

// A Branching is what a session is at the moment in which it is forked: a prompt behind the request is none of the
// fork's.
type Branching struct {
	state  correlation.State
	claims int
}

// Branch gives it.
func (s *Session) Branch() Branching { return Branching{s.state, s.claims} }

// NewParent makes a stand-in for a session that is forked and that this connection does not have.
func NewParent(id string) *Session { return &Session{ID: id, state: correlation.Armed} }

// Descend makes s a fork of parent, in the state that a fork of it has: the harness copies the history.
func (c *Connection) Descend(s, parent *Session, then Branching) {
	state := then.state
	if parent.claims == then.claims { // another proxy may hold it, too, and have changed it
		state = parent.state
	}
	state, _, _ = state.On(correlation.Event{Name: correlation.Forked})
	s.know(state)
	s.stranger, s.Off = parent.stranger, s.Off || parent.Off
	s.Open.ForkOf, s.Open.State, s.parent = parent.Row, state, parent
	if s.Who.ParentKey == "" {
		s.Who.ParentKey = parent.Who.Key
	}
	if s.Who.Cwd == "" {
		s.Who.Cwd, s.Who.Project = parent.Who.Cwd, parent.Who.Project
	}
	s.seen = slices.Clone(parent.seen)
	s.given = nil
	for _, g := range parent.given {
		own := *g
		own.shown, own.here = false, false
		s.given = append(s.given, &own)
	}
	c.wake(s)
}

// Looked takes in that the ledger was asked about a session.
func (c *Connection) Looked(s *Session, err error) {
	s.Unsure = err != nil
	c.Touch(s)
	if err != nil {
		return
	}
	c.SettleDoubt(s, false)
	s.Who.Key = OrNewKey(s.Who.Key)
	if s.Off {
		c.dropTurns(s)
	}
	c.open(s)
}

// Settle notes that the ledger has been asked about a session; ready is the Ready that it had then.
func (c *Connection) Settle(s *Session, ready chan struct{}) {
	close(ready)
	c.open(s)
	c.Touch(s)
}

// Unasked takes in that there is no ledger to ask: the session cannot be claimed either, here.
func (c *Connection) Unasked(s *Session) {
	s.Unsure, s.unclaimable, s.Who.Key = false, true, OrNewKey(s.Who.Key)
}
