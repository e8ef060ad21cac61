package session

import (
	"encoding/json"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// begin begins what a session needs once the ledger has said what it was given: the fetch of its context, and the
// search for a held prompt's words. The daemon answers a second session-start of one key with a stub, so a session that
// has used its key gets a new one.
func (c *Connection) begin(s *Session) {
	e, x := &s.exists, &s.context
	if e.ledger != known && e.ledger != unknown || s.off() {
		return
	}
	if f := x.fetch; x.wants() && f.step == planned {
		if !f.local {
			if e.Open.Key == "" || f.keyed {
				c.setKey(s, c.o.NewKey(), "")
			}
			f.keyed = true
		}
		f.session, f.key, f.step = s, e.Open.Key, fetching
		c.beside.Fetch(f, e.who(), f.local)
	}
	if x.held != nil { // under the new key, if it got one
		c.recall(x.held)
	}
}

// recall searches memory for a held prompt's words, once, if they are to go with what it is to carry.
func (c *Connection) recall(p *Held) {
	x, limit := &p.Session.context, AskTime(c.o.Hold)
	switch {
	case p.gone, !p.Until.IsZero(), x.state == correlation.Done, x.state == correlation.Doubt:
		return
	case x.state == correlation.IdentityGiven && x.late():
		return
	case x.state == correlation.IdentityGiven && x.fetch.missed: // a prompt has waited for them before
		limit = min(limit, recallLimit)
	}
	p.Until = p.Read.Add(limit)
	c.beside.Recall(p, p.Session.exists.who(), p.Session.history.given())
	p.Words = ""
}

// FetchEnded takes what a fetch has got. stored is that as JSON without secrets, for a later process to use if this one
// does not; nil stores nothing.
func (c *Connection) FetchEnded(f *Fetch, got memory.Context, stored json.RawMessage, err error) {
	f.got, f.err, f.stored, f.step = got, err, stored, fetched
	if s := f.session; (f.got.KeySpent || errors.Is(f.err, memory.ErrKeySpent)) && s.exists.Open.Key == f.key {
		// its outcome is not known: the old key stays in the session's sequence of keys, to be ended
		spent := f.key
		f.key = c.o.NewKey()
		c.setKey(s, f.key, spent)
	}
	c.storeContext(f)
	c.touch(f.session)
}

// takeOverFetch moves a fetch that no prompt has used from one session to another, with its key.
func (c *Connection) takeOverFetch(s, from *Session) {
	f := from.context.fetch
	if f.step == planned || from.injected() || f.step == used || s.off() {
		return
	}
	f.session = s
	s.context.use(f)
	c.setKey(s, f.key, "")
	c.storeContext(f)
}
