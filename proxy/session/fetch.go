package session

import (
	"encoding/json"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// beginFetches begins the fetches that the sessions need of which something has changed. The daemon answers a second
// session-start of one key with a stub, so a session that has used its key gets a new one.
func (c *Connection) beginFetches() {
	for i := 0; i < len(c.changed); i++ { // a new key changes it again
		s := c.changed[i]
		e, x := &s.exists, &s.context
		if e.ledger != known && e.ledger != unknown || s.off() || !x.wants() || x.fetch.begun() {
			continue
		}
		f := x.plan()
		if !f.local {
			if e.Open.Key != "" && f.keyed {
				c.setKey(s, c.o.NewKey(), "")
			}
			e.Open.Key, f.keyed = c.orNewKey(e.Open.Key), true
		}
		f.session, f.key, f.step = s, e.Open.Key, fetching
		c.beside.Fetch(f, e.who(), f.local)
	}
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
	if !f.begun() || from.injected() || f.step == used || s.off() {
		return
	}
	f.session = s
	s.context.use(f)
	c.setKey(s, f.key, "")
	c.storeContext(f)
}
