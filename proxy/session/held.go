package session

import (
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

const (
	recallLimit = 300 * time.Millisecond // a prompt of a session that has its context is held no longer
	claimTime   = 100 * time.Millisecond // of what a prompt is held at most, kept for the claim
)

// AskTime is how long after a prompt was read it waits for what it is to carry, if it is held for hold at most.
func AskTime(hold time.Duration) time.Duration { return hold - min(claimTime, hold/4) }

// mustHold reports whether a plain prompt has to be held, because it may get a block or the ledger has not answered.
// While another prompt of this connection is held or carries a block, none is.
func (c *Connection) mustHold(s *Session) bool {
	if s.context.held != nil {
		return false
	}
	if s.exists.ledger == none { // the identity needs none
		return s.untold()
	}
	// in flight in another proxy: it may have ended there
	if !s.exists.ledger.answered() || s.exists.ledger == stale || s.context.state != correlation.Done {
		return true
	}
	return len(s.turns.open) == 0 && len(c.news(s)) > 0
}

// untold reports whether nothing was told in a session, as far as this process knows without asking the ledger again.
func (s *Session) untold() bool {
	e := &s.exists
	return s.context.state == correlation.Armed && !e.unrecorded() &&
		(e.ledger == known || e.Open.New || s.history.replay.shown != shownNothing)
}

// news returns what other agents have sent to a session and was not inserted yet.
func (c *Connection) news(s *Session) []memory.Item {
	if c.o.Messages == nil {
		return nil
	}
	sent := c.o.Messages(s.exists.Open.Key)
	if len(sent) == 0 {
		return nil
	}
	given := s.history.given()
	return slices.DeleteFunc(sent, func(m memory.Item) bool { return slices.Contains(given, m.ID) })
}

// Cancel notes that the client wants no answer any more, of a session (id) or to a request (key). A prompt that is held
// goes out as it came.
func (c *Connection) Cancel(id []byte, key string) {
	for _, s := range c.sessions {
		if h := s.context.held; h != nil && !h.gone && (h.key == key || s.ID() == string(id)) {
			h.cancelled = true
			h.cancel()
		}
	}
	if t := c.pending[key].Turn; t != nil {
		c.cancel(t)
	}
	if s := c.sessions[string(id)]; s != nil {
		for _, t := range s.turns.open {
			c.cancel(t)
		}
	}
}

// cancel notes that the client wants a turn to end. On a busy machine a harness comes to a prompt later: where it does
// not say when, it is given as long as it took to open a session.
func (c *Connection) cancel(t *Turn) {
	after := c.traits.KeptAfter
	if after > 0 && !c.traits.SaysActive {
		after = max(after, c.slowest)
	}
	t.cancelled = true
	t.begun = t.begun || after > 0 && !t.taken.IsZero() && c.o.Now().Sub(t.taken) >= after
}
