package session

import (
	"encoding/json"
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A Fetch is a session's context on its way. Nobody waits for it but a
// prompt, and no prompt ends it: an abandoned session-start costs its key.
type Fetch struct {
	Done chan struct{} // closed when Got and Err stand
	Got  memory.Context
	Err  error

	// The table's lock guards these.
	Session *Session // whose it is; a session that continues another one takes its fetch over
	Key     string   // asked for under it
	used    bool     // a prompt carries it, or has
	missed  bool     // a prompt has found that it failed
	stored  json.RawMessage
}

// Finished reports whether the fetch has ended.
func (f *Fetch) Finished() bool {
	select {
	case <-f.Done:
		return true
	default:
		return false
	}
}

// spent gives a fetch whose context is in the conversation without it: it is not needed again, and a session may be
// idle for days.
func (f *Fetch) spent() *Fetch {
	return &Fetch{Done: f.Done, Err: f.Err, Session: f.Session, Key: f.Key, used: f.used, missed: f.missed}
}

// MayCome reports whether asking again may give what a fetch has not: its source was not there.
func (f *Fetch) MayCome() bool { return f.Finished() && errors.Is(f.Err, memory.ErrUnavailable) }

// Missed notes that a prompt went without what a fetch was for, because its source was not there: the next one asks
// again.
func (f *Fetch) Missed() { f.missed = true }

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

// A need is what is to be fetched for a session.
type need uint8

const (
	everything    need = iota
	identityAlone      // the local files
)

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

// OrNewKey gives key, or a new one if there is none.
func OrNewKey(key string) string {
	if key == "" {
		return correlation.NewKey()
	}
	return key
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
