package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// SwitchOff leaves a session alone from now on, and what it has just said too.
func (c *Connection) SwitchOff(s *Session) {
	s.Off = true
	c.dropTurns(s)
	c.step(s, correlation.Event{Name: correlation.SwitchedOff})
}

// Forget keeps nothing more of a session that a person has had forgotten.
func (c *Connection) Forget(s *Session) {
	s.Off, s.Hidden, s.before = true, true, nil
	c.dropTurns(s)
}

// Forgotten takes in that a person has had sessions forgotten: nothing more of them is kept.
func (c *Connection) Forgotten(numbers []int) {
	for _, s := range c.sessions {
		if slices.Contains(numbers, s.Number) {
			c.Forget(s)
		}
	}
}

// dropTurns keeps nothing more of a session's turns.
func (c *Connection) dropTurns(s *Session) {
	for _, t := range s.unanswered {
		t.dropped, t.prompt, t.steered, t.tools = true, nil, nil, nil
	}
	if s.last != nil {
		s.last.dropped = true
	}
	s.last, s.unanswered = nil, nil
	c.words.Add(1)
}
