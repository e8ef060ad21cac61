package session

import "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"

// In version 2 of the protocol the response to a prompt says only that the harness has taken it in. The turn goes on
// until the harness says that it is idle (docs/facts/acp.md, "Version 2").

// Accept notes the response to a prompt, of version 2: what the prompt carried is settled, its turn goes on.
func (c *Connection) Accept(req Request) {
	s := req.Session
	req.Turn.accepted = true
	s.isThere()
	if req.Injection != nil {
		c.settle(s, req.Injection, false, 0)
	}
	c.Touch(s)
}

// Idle notes that the harness has nothing to do any more in a session: the turns that it has taken in have ended, the
// last of them by stop, with an error's code where that is an error. It gives the event that is to be in the file
// before the client reads of it, nil if there is none.
func (c *Connection) Idle(s *Session, stop string, code int) (last eventlog.Event) {
	var ended []*Turn
	for _, t := range s.unanswered {
		if t.accepted {
			ended = append(ended, t)
		}
	}
	for i, t := range ended {
		req := Request{Session: s, Turn: t}
		if i < len(ended)-1 {
			if e := c.EndTurn(req, "", false, StopEnd, 0); e != nil {
				c.o.Events.Append(e)
			}
			continue
		}
		last = c.EndTurn(req, "", stop == StopError, stop, code)
	}
	return last
}
