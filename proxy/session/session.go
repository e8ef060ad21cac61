package session

import (
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A Session is what this process knows of an ACP session. The ledger decides what its state is, because two proxies may
// hold one session.
type Session struct {
	ID     string // the harness's sessionId; empty until its response names it
	Number int    // in the file of events

	exists  existence
	context context
	turns   turns
	history history
}

// Label is the session's id as it is logged, at most maxLabel bytes of it.
func (s *Session) Label() string { return s.ID[:min(len(s.ID), maxLabel)] }

// newSession makes a session that is still to be looked up in the ledger, or to be named by the harness.
func (c *Connection) newSession(cwd string) *Session {
	who := memory.Session{Harness: c.harness(), Cwd: cwd, Project: c.o.Project(cwd), AgentID: c.o.AgentID}
	c.numbers.session++
	s := &Session{
		Number: c.numbers.session,
		exists: existence{
			who: who,
			open: correlation.OpenSession{
				Harness: c.harness(), Agent: c.agent.Name, AgentVersion: c.agent.Version,
				Cwd: cwd, Project: who.Project, AgentID: c.o.AgentID,
				Client: c.client.Name, ClientVersion: c.client.Version,
			},
		},
		context: context{state: correlation.Armed},
	}
	if memory.OptedOut(cwd, c.o.Exclude) {
		s.exists.silence = hidden
	}
	return s
}

// off reports whether nothing is inserted into the session, and nothing of it recorded.
func (s *Session) off() bool { return s.exists.silence != heard }

// setKey gives a session a Signet key. spent is an earlier key with which a session-start was sent whose outcome is not
// known; "" for none.
func (c *Connection) setKey(s *Session, key, spent string) {
	if s.exists.who.Key == key {
		return
	}
	s.exists.who.Key = key
	if s.exists.events.opened || spent != "" {
		c.recordKey(s, key, spent)
	}
}

// orNewKey returns key, or a new one if key is empty.
func (c *Connection) orNewKey(key string) string {
	if key == "" {
		return c.o.NewKey()
	}
	return key
}

// switchOff inserts and records nothing more in a session. What is not recorded yet is dropped too.
func (c *Connection) switchOff(s *Session) {
	if s.exists.silence == heard {
		s.exists.silence = off
	}
	c.dropTurns(s)
	c.step(s, correlation.Event{Name: correlation.SwitchedOff})
}

// forget records nothing more of a session that a person has had forgotten.
func (c *Connection) forget(s *Session) {
	s.exists.silence, s.exists.events.deferred = hidden, nil
	c.dropTurns(s)
}

// dropTurns drops what is not recorded of a session's turns, and records nothing more of them.
func (c *Connection) dropTurns(s *Session) {
	s.turns.drop()
	c.changes++
}

// Forgotten: a person has had sessions forgotten, by their numbers in the file of events.
type Forgotten struct{ Numbers []int }

func (f Forgotten) on(c *Connection) {
	for _, s := range c.sessions {
		for _, n := range f.Numbers {
			if s.Number == n {
				c.forget(s)
			}
		}
	}
}

// State says whether the session has had its context, as far as this process knows.
func (s *Session) State() correlation.State { return s.context.state }

// LookedUp reports whether the ledger has answered about the session, or failed to.
func (s *Session) LookedUp() bool { return s.exists.ledger != asked }

// Fetched reports whether a fetch of the session's context has ended.
func (s *Session) Fetched() bool { return s.context.fetch != nil && s.context.fetch.ended() }
