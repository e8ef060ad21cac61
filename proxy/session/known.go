package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Adopt takes over what the ledger has of a session: its row, key, state and injections.
func (c *Connection) Adopt(s *Session, known correlation.Session, blocks []correlation.Injection) {
	s.Row, s.Open.Harness, s.unknown = known.ID, known.Harness, false
	if s.Who.Cwd == "" {
		s.Who.Cwd, s.Who.Project = known.Cwd, known.Project
	}
	if s.fetch == nil || s.Who.Key == "" {
		s.Who.Key, s.keyed = known.Key, true
	}
	s.Off = s.Off || known.State == correlation.Off
	s.adoptState(known.State)
	s.loadInjections(blocks, known)
	s.placed = s.state == correlation.IdentityGiven && s.NoPromptInjected()
	if known.ParentKey != "" {
		s.Who.ParentKey = known.ParentKey
	}
}

// InLedger reports whether the ledger had the session when last asked, or has events of it.
func (s *Session) InLedger() bool { return s.Row != 0 || s.folded > 0 }

// Unknown notes that the ledger does not have a session that the client opens by its id. wasKnown says that it had it
// before: then a person has had it forgotten.
func (c *Connection) Unknown(s *Session, wasKnown bool) {
	if wasKnown {
		c.Forget(s)
		return
	}
	s.unknown = true
}

// ContinueFailed makes a session continue the one whose load has just failed. It takes over a context that was not
// used, with its key.
func (c *Connection) ContinueFailed(s, failed *Session) {
	s.Open.ContinueOf, s.failed = failed.Row, failed
	c.takeOverFetch(s, failed)
	if failed.Off && !failed.Hidden {
		c.SwitchOff(s)
	}
}

// Continue makes a session continue the newest one of the same acpx record, which comes from the ledger with its
// injections.
func (c *Connection) Continue(s *Session, before correlation.Session, blocks []correlation.Injection) {
	then := &Session{Row: before.ID}
	then.adoptState(before.State)
	then.loadInjections(blocks, before)
	s.Open.ContinueOf = before.ID
	for _, old := range c.sessions { // its load failed on this connection, some time ago
		if old.Row == before.ID && !old.Live {
			c.takeOverFetch(s, old)
		}
	}
	switch {
	case then.NoPromptInjected():
		s.Predecessor = before.ID
	case before.State == correlation.Off:
		c.SwitchOff(s)
	}
}

// A ForkPoint is a session's state at the moment when its fork was requested: prompts that follow the request are not
// in the fork's history.
type ForkPoint struct {
	state  correlation.State
	claims int
}

// ForkPoint returns the session's state now.
func (s *Session) ForkPoint() ForkPoint { return ForkPoint{s.state, s.claims} }

// NewParent makes a stand-in for the parent of a fork that this connection does not have.
func NewParent(id string) *Session { return &Session{ID: id, state: correlation.Armed} }

// Forked makes s a fork of parent as it was then. The harness copies the history, so s has its parent's injections.
func (c *Connection) Forked(s, parent *Session, then ForkPoint) {
	state := then.state
	if parent.claims == then.claims { // another proxy may hold it, too, and have changed it
		state = parent.state
	}
	state, _, _ = state.On(correlation.Event{Name: correlation.Forked})
	s.adoptState(state)
	s.unknown, s.Off = parent.unknown, s.Off || parent.Off
	s.Open.ForkOf, s.Open.State, s.parent = parent.Row, state, parent
	if s.Who.ParentKey == "" {
		s.Who.ParentKey = parent.Who.Key
	}
	if s.Who.Cwd == "" {
		s.Who.Cwd, s.Who.Project = parent.Who.Cwd, parent.Who.Project
	}
	s.seenItems = slices.Clone(parent.seenItems)
	s.injections = nil
	for _, g := range parent.injections {
		own := *g
		own.shown, own.sentHere = false, false
		s.injections = append(s.injections, &own)
	}
}

// LookupAnswered notes how asking the ledger about a session went. After an error the next prompt asks again.
func (c *Connection) LookupAnswered(s *Session, err error) {
	s.Stale = err != nil
	c.Touch(s)
	if err != nil {
		return
	}
	c.SettleDoubt(s, false)
	s.Who.Key = OrNewKey(s.Who.Key)
	if s.Off {
		c.dropTurns(s)
	}
	c.recordOpened(s)
}

// LookupEnded releases who waits for the ledger's answer about a session. ready is the session's Ready of when it was
// asked.
func (c *Connection) LookupEnded(s *Session, ready chan struct{}) {
	close(ready)
	c.recordOpened(s)
	c.Touch(s)
}

// NoLedger notes that there is no ledger: the session cannot be claimed in this process.
func (c *Connection) NoLedger(s *Session) {
	s.Stale, s.unclaimable, s.Who.Key = false, true, OrNewKey(s.Who.Key)
}
