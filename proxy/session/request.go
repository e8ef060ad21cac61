package session

import (
	"slices"
	"strconv"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Asked: a request about a session was forwarded, whose response is to be watched.
type Asked struct {
	Key, Method string
	ID          []byte // the session's; nil: none
}

func (a Asked) on(c *Connection) {
	c.await(a.Key, Request{Method: a.Method, Session: c.sessions[string(a.ID)]})
}

// ResponseCame: a response to the client begins. It is held if it is awaited. Key is called only if any is.
type ResponseCame struct{ Key func() string }

func (r ResponseCame) on(c *Connection) {
	if len(c.pending) == 0 {
		return
	}
	if _, ok := c.pending[r.Key()]; ok {
		c.do.Frame = Hold
	}
}

// Answered: the response with this id is whole. Do.Request is the request that it answers. Read returns what it says;
// nil: nothing more. It may be nil itself.
type Answered struct {
	Key  string
	Read func(Request) Seen
}

func (a Answered) on(c *Connection) {
	req, ok := c.pending[a.Key]
	if !ok {
		return
	}
	c.do.Request, c.do.Frame = req, Hold
	delete(c.pending, a.Key)
	if req.Opening.Kind != opensNone {
		c.slowest = max(c.slowest, c.at.Sub(req.at))
	}
	if a.Read == nil {
		return
	}
	if says := a.Read(req); says != nil {
		says.on(c)
	}
}

// await notes a request whose response is to be watched. key is its id (IDKey).
func (c *Connection) await(key string, req Request) {
	if old, ok := c.pending[key]; ok && old.Turn != nil { // an id that is used twice gets one answer
		c.closeUnanswered(old.Turn)
	}
	c.requests++
	req.n, req.at = c.requests, c.at
	c.pending[key] = req
}

// forwarded notes that a turn's prompt leaves for the harness now.
func (c *Connection) forwarded(t *Turn) {
	s := t.Session
	c.settleDoubt(s, false)
	s.history.endReplay()
	t.step = max(t.step, turnBegan)
	if len(s.turns.open) == 1 && !c.traits().SaysActive { // others are worked on first
		t.taken = c.at
	}
	c.changes++
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
	c.changes++
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

// IDKey returns a request id in a form in which equal ids are equal strings: a peer may spell a number or a string
// differently when it answers. text decodes a JSON string. A string never equals a number.
func IDKey(token []byte, text func([]byte) (string, bool)) string {
	if len(token) > 0 && token[0] == '"' {
		if s, ok := text(token); ok {
			return `"` + s
		}
	}
	if slices.ContainsFunc(token, func(b byte) bool { return b == '.' || b == 'e' || b == 'E' }) {
		if f, err := strconv.ParseFloat(string(token), 64); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return string(token)
}
