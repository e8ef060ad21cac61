package session

import (
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// In version 2 of the protocol the response to a prompt says only that the harness has accepted it. The turn goes on
// until the harness says that it is idle (docs/facts/acp.md, "Version 2").

// Accept notes a version 2 response to a prompt: the block that the prompt carried is settled, its turn goes on.
func (c *Connection) Accept(req Request) {
	s := req.Session
	req.Turn.accepted = true
	s.Live = true
	if req.Injection != nil {
		c.settle(s, req.Injection, correlation.Answered)
	}
	c.Touch(s)
}

// Idle ends the turns that a session's harness has accepted, the last of them with stop, and with code if stop is
// StopError. Like EndTurn it returns the event that has to be in the file before the update is forwarded, nil if there
// is none.
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
