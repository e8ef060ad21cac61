package session

import "github.com/Signet-AI/signet-acp-proxy/correlation"

// ClientGreeted notes an initialize request, whose response is awaited.
func (c *Connection) ClientGreeted(client Program, key, method string) {
	c.client = client
	c.await(key, Request{Method: method})
}

// AgentGreeted notes the response to an initialize request, and what is known of who has given it.
func (c *Connection) AgentGreeted(agent Program, known Traits) { c.agent, c.traits = agent, known }

// Asked notes a request about a session (id; nil: none) whose response is to be watched.
func (c *Connection) Asked(key, method string, id []byte) {
	c.await(key, Request{Method: method, Session: c.sessions[string(id)]})
}

// Awaits reports whether a response is awaited. key is called only if any is.
func (c *Connection) Awaits(key func() string) bool {
	if len(c.pending) == 0 {
		return false
	}
	_, ok := c.pending[key()]
	return ok
}

// Answered returns the request that a response answers, which is awaited no longer; ok is false if it was not.
func (c *Connection) Answered(key string) (req Request, ok bool) {
	if req, ok = c.pending[key]; ok && req.Opening.Kind != opensNone {
		c.slowest = max(c.slowest, c.o.Now().Sub(req.at))
	}
	delete(c.pending, key)
	return req, ok
}

// await notes a request whose response is to be watched. key is its id.
func (c *Connection) await(key string, req Request) {
	if old, ok := c.pending[key]; ok && old.Turn != nil { // an id that is used twice gets one answer
		c.closeUnanswered(old.Turn)
	}
	c.requests++
	req.n, req.at = c.requests, c.o.Now()
	c.pending[key] = req
}

// forwarded notes that a turn's prompt leaves for the harness now.
func (c *Connection) forwarded(t *Turn) {
	s := t.Session
	c.settleDoubt(s, false)
	s.history.replay = replay{} // what the harness shows from now on may be more than its history
	t.step = max(t.step, turnBegan)
	if len(s.turns.open) == 1 && !c.traits.SaysActive { // others are worked on first
		t.taken = c.o.Now()
	}
	c.turnChanges.Add(1)
	for _, u := range s.turns.open { // those behind a held prompt may have been read before it left
		if u.step == turnWaits {
			break
		}
		if u.promptRead {
			c.recordBegun(u)
		}
	}
}

// closeUnanswered ends a turn that has no response. What its prompt carried is in doubt.
func (c *Connection) closeUnanswered(t *Turn) {
	s := t.Session
	s.turns.end(t, stopUnanswered)
	c.turnChanges.Add(1)
	for _, req := range c.pending {
		if req.Turn == t {
			c.settle(s, req.Injection, correlation.Failed)
		}
	}
	if s.off() || t.dropped {
		return
	}
	if c.recordBegun(t); t.Number == 0 {
		return
	}
	c.record(s, correlation.TurnEnded{Turn: t.Number, Stop: t.stop, Lost: t.lost})
	c.markDue(t)
}
