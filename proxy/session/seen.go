package session

import (
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// maxUnread is how many bytes of prompts may wait to be read; with more they are recorded at once.
const maxUnread = 192 << 10

// On takes what was seen, and when, and returns what is to be done.
func (c *Connection) On(at time.Time, seen Seen) Do {
	c.at, c.do = at, Do{}
	seen.on(c)
	c.beginFetches()
	if c.waiting.unread > maxUnread {
		c.do.Full = true
	}
	do := c.do
	c.do = Do{}
	return do
}

// ClientGreeted: an initialize request, whose response is awaited.
type ClientGreeted struct {
	Client      Program
	Key, Method string // of the request
}

func (g ClientGreeted) on(c *Connection) {
	c.client = g.Client
	c.await(g.Key, Request{Method: g.Method})
}

// AgentGreeted: the response to an initialize request.
type AgentGreeted struct{ Agent Program }

func (g AgentGreeted) on(c *Connection) { c.agent = g.Agent }

// Advertised: the commands that the harness takes in a session. Some harnesses send them before the response that names
// the session.
type Advertised struct {
	ID       string
	Commands map[string]bool
}

func (a Advertised) on(c *Connection) { c.advertise(a.ID, a.Commands) }

// Forgotten: a person has had sessions forgotten, by their numbers in the file of events.
type Forgotten struct{ Numbers []int }

func (f Forgotten) on(c *Connection) {
	for _, s := range c.sessions {
		for _, n := range f.Numbers {
			if s.Number() == n {
				c.forget(s)
			}
		}
	}
}

// SessionSought: Do.Who is what is known of a session, and Do.Off says that it is switched off. With Wait it waits for
// what the ledger has to say (Do.Wait), unless it is Late.
type SessionSought struct {
	Session    *Session
	Wait, Late bool
}

func (k SessionSought) on(c *Connection) {
	e := &k.Session.exists
	c.do.Who, c.do.Mode, c.do.Off = e.who(), e.mode, k.Session.off()
	c.do.Wait = k.Wait && !k.Late && !c.do.Off && !e.ledger.answered()
}

// TurnsSought: Do.Sessions are those in which a turn is under way.
type TurnsSought struct{}

func (TurnsSought) on(c *Connection) {
	for _, s := range c.sessions {
		if s.exists.live && !s.off() && len(s.turns.open) > 0 && s.turns.open[0].step != turnWaits {
			c.do.Sessions = append(c.do.Sessions, s)
		}
	}
}

// ClientGone: the client has gone. Do.Busy says that a prompt still waits for its response.
type ClientGone struct{}

func (ClientGone) on(c *Connection) {
	for _, s := range c.sessions {
		c.do.Busy = c.do.Busy || len(s.turns.open) > 0
	}
}

// BlocksSought: the blocks of a session are needed. Do.Known says that they are Do.Blocks.
type BlocksSought struct{ ID string }

func (u BlocksSought) on(c *Connection) {
	s := c.sessions[u.ID]
	if c.do.Session = s; s == nil || !s.exists.ledger.answered() {
		return
	}
	c.do.Known, c.do.Row = true, s.exists.row
	for _, b := range s.history.blocks {
		own := *b // read beside the conversation, which goes on changing it
		c.do.Blocks = append(c.do.Blocks, &own)
	}
}

// RecordFound: the record id that acpx has for a session.
type RecordFound struct {
	Session *Session
	Record  string
}

func (r RecordFound) on(c *Connection) {
	s := r.Session
	if s.exists.Open.Record != r.Record {
		s.exists.Open.Record = r.Record
		c.record(s, correlation.RecordKnown{Session: s.Number(), Record: r.Record})
	}
}

// RecordsSought: Do.Sessions are those that Client has made and whose acpx records are not known.
type RecordsSought struct{ Client string }

func (r RecordsSought) on(c *Connection) {
	if c.client.Name != r.Client {
		return
	}
	for _, s := range c.sessions {
		if s.exists.live && s.exists.Open.New && s.exists.Open.Record == "" {
			c.do.Sessions = append(c.do.Sessions, s)
		}
	}
}
