package session

import (
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// RetryFetch drops a fetch that a prompt has missed because the source was not there, so that it begins again; it
// reports whether it did.
func (c *Connection) RetryFetch(s *Session) bool {
	f := s.fetch
	if f == nil || !f.missed || !f.Retryable() || !s.wantsContext() || s.Off {
		return false
	}
	s.fetch, s.keyed = nil, false // the source never got its key: that can be used again
	c.Touch(s)
	return true
}

// Fetch returns the fetch of what the next prompt is to get; nil when none was begun.
func (s *Session) Fetch() *Fetch { return s.fetch }

// BeginFetch returns the fetch that the caller is to run for a session, nil if the session needs none now. With
// identity only the local identity files are to be read. The daemon answers a second session-start of one key with a
// stub, so a session that has used its key gets a new one.
func (c *Connection) BeginFetch(s *Session) (f *Fetch, identity bool) {
	if !s.LookedUp() || s.Stale || s.Off || s.fetch != nil || !s.wantsContext() {
		return nil, false
	}
	identity = s.fetches == identityAlone
	s.fetches = everything
	if !identity {
		if s.Who.Key != "" && s.keyed {
			c.rekey(s)
		}
		s.Who.Key, s.keyed = OrNewKey(s.Who.Key), true
	}
	s.fetch = &Fetch{Done: make(chan struct{}), Session: s, Key: s.Who.Key}
	return s.fetch, identity
}

// UseStoredContext gives the session a context that an earlier process has stored, with the key that it was fetched
// under, in place of a fetch.
func (c *Connection) UseStoredContext(s *Session, key string, got memory.Context, stored json.RawMessage) {
	f := &Fetch{Done: make(chan struct{}), Got: got, Session: s, Key: key, stored: stored}
	close(f.Done)
	s.fetch, s.keyed = f, true
	c.setKey(s, key, "")
	c.storeContext(f) // it was taken out of the ledger, and is still not used
}

// WantsStoredContext reports whether a context that an earlier process has stored would be of use.
func (s *Session) WantsStoredContext() bool { return s.wantsContext() && s.fetch == nil && !s.Off }

// takeOverFetch moves a fetch that no prompt has used from one session to another, with its key.
func (c *Connection) takeOverFetch(s, from *Session) {
	f := from.fetch
	if f == nil || !from.NoPromptInjected() || f.used || s.Off {
		return
	}
	f.Session, s.fetch, s.keyed = s, f, true
	c.setKey(s, f.Key, "")
	if f.Finished() {
		c.storeContext(f)
	}
}

// rekey gives a session a new Signet key.
func (c *Connection) rekey(s *Session) {
	c.setKey(s, correlation.NewKey(), "")
}

// GiveUpKey gives a session a new key because the outcome of a session-start with the fetch's is not known. The old one
// stays in the session's sequence of keys, to be ended.
func (c *Connection) GiveUpKey(f *Fetch) {
	s, spent := f.Session, f.Key
	if s.Who.Key != spent {
		return
	}
	f.Key = correlation.NewKey()
	c.setKey(s, f.Key, spent)
}

// FirstWait reports whether this is the first prompt of a session whose identity is in the system prompt: that one may
// wait for the memories. It reports so once.
func (s *Session) FirstWait() bool {
	first := s.placed
	s.placed = false
	return first
}

// MemoriesLate reports whether the memories of a session that has its identity are not there, and the next prompt will
// not wait for them.
func (s *Session) MemoriesLate() bool {
	return s.fetch == nil || s.fetch.missed || !s.placed && !s.fetch.Finished()
}
