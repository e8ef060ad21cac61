package session

import (
	"encoding/json"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A context is what a session is told, and how far that is.
type context struct {
	state correlation.State
	// Compacted or Cleared while a block was in flight: it counts once that has settled
	lost    correlation.EventName
	sent    bool   // a prompt of this connection carries a block, and waits for its response
	held    *Held  // else the prompt that waits for its context; nil: none
	claims  int    // prompts of this process that carried a block
	fetch   *Fetch // of what the next prompt is to get; nil: none was begun
	local   bool   // the next fetch is to read the local identity files alone
	keyed   bool   // a session-start may have been sent with the session's key
	patient bool   // the identity is in its system prompt, and no prompt has waited for the memories: one may
}

// wants reports whether the session is still to be given something that is fetched for it.
func (x *context) wants() bool {
	return x.state == correlation.Armed || x.state == correlation.IdentityGiven
}

// adopt takes over the state that the ledger has, unless what is in flight is our own.
func (x *context) adopt(state correlation.State) {
	if !x.sent {
		x.state = state
	}
}

// elsewhere reports whether another proxy was sending the session's context when the ledger was last asked.
func (x *context) elsewhere() bool { return x.state == correlation.InFlight && !x.sent }

// mayCarry reports whether a prompt may get a block because of the state. One that is in flight in another proxy may:
// it may have ended there.
func (x *context) mayCarry() bool {
	switch x.state {
	case correlation.Armed, correlation.IdentityGiven, correlation.Doubt, correlation.InFlight:
		return true
	}
	return false
}

// beginFetch returns the fetch that is needed now, nil for none.
func (x *context) beginFetch(s *Session) *Fetch {
	if x.fetch != nil || !x.wants() {
		return nil
	}
	x.fetch = &Fetch{session: s}
	return x.fetch
}

// retry drops a fetch that a prompt has missed because the source was not there, so that it begins again; it reports
// whether it did.
func (x *context) retry() bool {
	if x.fetch == nil || !x.fetch.missed || !x.fetch.retryable() || !x.wants() {
		return false
	}
	x.fetch, x.keyed = nil, false // the source never got its key: that can be used again
	return true
}

// late reports whether the memories of a session that has its identity are not there, and the next prompt will not wait
// for them.
func (x *context) late() bool {
	return x.fetch == nil || x.fetch.missed || !x.patient && !x.fetch.ended()
}

// forget makes the next prompt carry context again.
func (x *context) forget(whole bool) {
	x.fetch, x.patient = nil, x.state == correlation.IdentityGiven
	x.local = x.local || !whole
}

// A Fetch is a request for a session's context. Only a prompt waits for it, and a prompt that stops waiting does not
// cancel it: a session-start without its answer costs the key.
type Fetch struct {
	session *Session // a session that continues another takes its fetch over
	key     string   // the Signet key that it was made with
	step    fetchStep
	missed  bool // a prompt went without it
	got     memory.Context
	err     error
	stored  json.RawMessage // what it got, as it may be stored; nil: nothing
}

// A fetchStep is how far a fetch is.
type fetchStep uint8

const (
	fetching fetchStep = iota
	fetched            // got and err are set
	used               // a prompt has carried what it got
)

func (f *Fetch) ended() bool { return f.step != fetching }

// retryable reports whether a fetch has failed because its source was not there: another may succeed.
func (f *Fetch) retryable() bool { return f.ended() && errors.Is(f.err, memory.ErrUnavailable) }

// A FetchJob is a fetch that is to be run. Local: only the local identity files are to be read. FetchEnded follows.
type FetchJob struct {
	Fetch *Fetch
	Who   memory.Session
	Local bool
}

// beginFetches begins the fetches that the sessions need of which something has changed. The daemon answers a second
// session-start of one key with a stub, so a session that has used its key gets a new one.
func (c *Connection) beginFetches() {
	for i := 0; i < len(c.do.changed); i++ { // a new key changes it again
		s := c.do.changed[i]
		e, x := &s.exists, &s.context
		if e.ledger != known && e.ledger != unknown || s.off() {
			continue
		}
		f := x.beginFetch(s)
		if f == nil {
			continue
		}
		local := x.local
		x.local = false
		if !local {
			if e.who.Key != "" && x.keyed {
				c.setKey(s, c.o.NewKey(), "")
			}
			e.who.Key, x.keyed = c.orNewKey(e.who.Key), true
		}
		f.key = e.who.Key
		c.do.Fetches = append(c.do.Fetches, FetchJob{Fetch: f, Who: e.who, Local: local})
	}
}

// FetchEnded: a fetch has ended. Stored is what it got as JSON without secrets, for a later process to use if this one
// does not; nil stores nothing.
type FetchEnded struct {
	Fetch  *Fetch
	Got    memory.Context
	Err    error
	Stored json.RawMessage
}

func (e FetchEnded) on(c *Connection) {
	f := e.Fetch
	f.got, f.err, f.stored, f.step = e.Got, e.Err, e.Stored, fetched
	if s := f.session; (f.got.KeySpent || errors.Is(f.err, memory.ErrKeySpent)) && s.exists.who.Key == f.key {
		// its outcome is not known: the old key stays in the session's sequence of keys, to be ended
		spent := f.key
		f.key = c.o.NewKey()
		c.setKey(s, f.key, spent)
	}
	c.storeContext(f)
	c.touch(f.session)
	c.do.News = true
}

func (c *Connection) storeContext(f *Fetch) {
	if f.stored != nil && f.step == fetched {
		c.record(f.session, eventlog.ContextStored{
			Session: f.session.Number, Key: f.key, Fetched: f.got.Fetched, Context: f.stored,
		})
	}
}

// dropContext removes the context that was stored for a session.
func (c *Connection) dropContext(s *Session) {
	s.exists.events.drop()
	c.record(s, eventlog.ContextDropped{Session: s.Number})
}

// useStored gives the session a context that an earlier process has stored, with the key that it was fetched under, in
// place of a fetch.
func (c *Connection) useStored(s *Session, l LookedUp) {
	f := &Fetch{session: s, key: l.Key, step: fetched, got: l.Context, stored: l.Stored}
	s.context.fetch, s.context.keyed = f, true
	c.setKey(s, l.Key, "")
	c.storeContext(f) // it was taken out of the ledger, and is still not used
}

// takeOverFetch moves a fetch that no prompt has used from one session to another, with its key.
func (c *Connection) takeOverFetch(s, from *Session) {
	f := from.context.fetch
	if f == nil || from.injected() || f.step == used || s.off() {
		return
	}
	f.session, s.context.fetch, s.context.keyed = s, f, true
	c.setKey(s, f.key, "")
	c.storeContext(f)
}
