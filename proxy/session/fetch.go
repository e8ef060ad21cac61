package session

import (
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// AskAgain makes a session whose last prompt missed its context wait for it anew, and reports whether it does.
func (c *Connection) AskAgain(s *Session) bool {
	f := s.fetch
	if f == nil || !f.missed || !f.MayCome() || !s.waiting() || s.Off {
		return false
	}
	s.fetch, s.keyed = nil, false // nothing has been told under its key
	c.Touch(s)
	return true
}

// Fetch gives what the next prompt is to get; nil when nothing was asked for.
func (s *Session) Fetch() *Fetch { return s.fetch }

// Begin gives the fetch that is to begin for a session that is waiting for something, nil if there is none. identity
// says that it is for the local files alone. The daemon answers a second start of one key with a stub, so that a
// session that has a key gets a new one.
func (c *Connection) Begin(s *Session) (f *Fetch, identity bool) {
	if !s.Settled() || s.Unsure || s.Off || s.fetch != nil || !s.waiting() {
		return nil, false
	}
	identity = s.wants == identityAlone
	s.wants = everything
	if !identity {
		if s.Who.Key != "" && s.keyed {
			c.rekey(s)
		}
		s.Who.Key, s.keyed = OrNewKey(s.Who.Key), true
	}
	s.fetch = &Fetch{Done: make(chan struct{}), Session: s, Key: s.Who.Key}
	return s.fetch, identity
}

// TakeKept makes a context that was kept with the session, or with its predecessor, be the one that its next prompt
// gets, with its key.
func (c *Connection) TakeKept(s *Session, key string, got memory.Context, stored json.RawMessage) {
	f := &Fetch{Done: make(chan struct{}), Got: got, Session: s, Key: key, stored: stored}
	close(f.Done)
	s.fetch, s.keyed = f, true
	c.setKey(s, key, "")
	c.keep(f) // taken, but still unused
}

// LacksKept reports whether a context that was kept for it would be of use.
func (s *Session) LacksKept() bool { return s.waiting() && s.fetch == nil && !s.Off }

// takeOver gives a session the context that another one has not used, with its key.
func (c *Connection) takeOver(s, from *Session) {
	f := from.fetch
	if f == nil || !from.Untold() || f.used || s.Off {
		return
	}
	f.Session, s.fetch, s.keyed = s, f, true
	c.setKey(s, f.Key, "")
	if f.Finished() {
		c.keep(f)
	}
}

// rekey gives a session a new key.
func (c *Connection) rekey(s *Session) {
	c.setKey(s, correlation.NewKey(), "")
}

// GiveUpKey gives a session a new key in place of one whose start is in doubt, which stays in its sequence.
func (c *Connection) GiveUpKey(f *Fetch) {
	s, spent := f.Session, f.Key
	if s.Who.Key != spent {
		return
	}
	f.Key = correlation.NewKey()
	c.setKey(s, f.Key, spent)
}

// FirstWait reports, once, whether a prompt is the first that may wait for a session's memories: its identity is in
// the system prompt.
func (s *Session) FirstWait() bool {
	first := s.placed
	s.placed = false
	return first
}

// Late reports whether the session's memories are still on their way and no prompt waits for them.
func (s *Session) Late() bool {
	return s.fetch == nil || s.fetch.missed || !s.placed && !s.fetch.Finished()
}
