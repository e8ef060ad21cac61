package session

// JudgeSteering returns the session of words of the user in the middle of a turn; nil: they are not looked at.
func (c *Connection) JudgeSteering(id []byte) *Session {
	if s := c.sessions[string(id)]; s != nil && !s.off() {
		return s
	}
	return nil
}

// Steered takes what the user says in the middle of a turn.
func (c *Connection) Steered(s *Session, bytes int, prompt Prompt) {
	s.history.since += bytes
	t := s.turns.current()
	if t == nil || t.dropped || prompt.Size() == 0 {
		return
	}
	c.recordBegun(t)
	t.steered = append(t.steered, prompt)
	c.unread(prompt)
	c.markDue(t)
	c.touch(s)
}
