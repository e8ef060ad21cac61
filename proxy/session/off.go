package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// SwitchOff inserts and records nothing more in a session. What is not recorded yet is dropped too.
func (c *Connection) SwitchOff(s *Session) {
	s.Off = true
	c.dropTurns(s)
	c.step(s, correlation.Event{Name: correlation.SwitchedOff})
}

// Forget records nothing more of a session that a person has had forgotten.
func (c *Connection) Forget(s *Session) {
	s.Off, s.Hidden, s.deferred = true, true, nil
	c.dropTurns(s)
}

// Forgotten is Forget for sessions by their numbers in the file of events.
func (c *Connection) Forgotten(numbers []int) {
	for _, s := range c.sessions {
		if slices.Contains(numbers, s.Number) {
			c.Forget(s)
		}
	}
}

// dropTurns drops what is not recorded of a session's turns, and records nothing more of them.
func (c *Connection) dropTurns(s *Session) {
	for _, t := range s.unanswered {
		t.dropped, t.prompt, t.steered, t.tools = true, nil, nil, nil
	}
	if s.last != nil {
		s.last.dropped = true
	}
	s.last, s.unanswered = nil, nil
	c.turnChanges.Add(1)
}
