package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Settled reports whether the ledger has answered about a session, or nothing is to be known of it.
func (s *Session) Settled() bool { return s.off() || s.exists.ledger.answered() }

// Talking returns the sessions in which a turn is under way.
func (c *Connection) Talking() (all []*Session) {
	for _, s := range c.sessions {
		if s.exists.live && !s.off() && s.turns.running() != nil {
			all = append(all, s)
		}
	}
	return all
}

// Busy reports whether a prompt waits for its response.
func (c *Connection) Busy() bool {
	for _, s := range c.sessions {
		if len(s.turns.open) > 0 {
			return true
		}
	}
	return false
}

// Given is what a session was given, as far as this connection knows.
type Given struct {
	Session *Session // nil: the connection does not have it
	Known   bool     // the ledger has said what there is
	Blocks  []*Injection
	Row     int64 // in the ledger
}

// Given returns the blocks of a session.
func (c *Connection) Given(id string) (g Given) {
	s := c.sessions[id]
	if g.Session = s; s == nil || !s.exists.ledger.answered() {
		return g
	}
	g.Known, g.Row = true, s.exists.row
	for _, b := range s.history.blocks {
		own := *b // read beside the conversation, which goes on changing it
		g.Blocks = append(g.Blocks, &own)
	}
	return g
}

// RecordFound notes the record id that acpx has for a session.
func (c *Connection) RecordFound(s *Session, record string) {
	if s.exists.Open.Record != record {
		s.exists.Open.Record = record
		c.record(s, correlation.RecordKnown{Session: s.Number, Record: record})
	}
}

// WithoutRecord returns the sessions that a client has made and whose acpx records are not known.
func (c *Connection) WithoutRecord(client string) (all []*Session) {
	if c.client.Name != client {
		return nil
	}
	for _, s := range c.sessions {
		if s.exists.live && s.exists.Open.New && s.exists.Open.Record == "" {
			all = append(all, s)
		}
	}
	return all
}

// Forget records nothing more of sessions that a person has had forgotten, by their numbers in our events.
func (c *Connection) Forget(numbers []int) {
	for _, s := range c.sessions {
		if slices.Contains(numbers, s.Number) {
			c.forget(s)
		}
	}
}
