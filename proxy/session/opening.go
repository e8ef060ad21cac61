package session

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// continueWindow is how soon after a failed load a new session continues it.
const continueWindow = 5 * time.Second

// OpeningAsked takes a request that opens a session, and returns the session. An early request is noted for the moment
// when its response comes: nil.
func (c *Connection) OpeningAsked(key, method string, o Opening) *Session {
	req := Request{Method: method, Opening: o}
	if !o.Early {
		req.Session = c.open(o)
	}
	c.await(key, req)
	return req.Session
}

func (c *Connection) open(o Opening) (s *Session) {
	failed := c.failed // only the very next request continues it
	c.failed = nil
	switch o.Kind {
	case OpensNew:
		s = c.newSession(o.Cwd)
		l := &Lookup{Session: s, Kind: OpensNew}
		if failed != nil && c.continues(failed, o.Cwd) {
			l.failed = failed.Session
		}
		for _, old := range c.sessions { // it may continue them
			if !old.exists.live {
				l.after = append(l.after, old)
			}
		}
		c.making = append(c.making, s)
		c.lookUp(l)
	case OpensFork:
		l := &Lookup{Kind: OpensFork, of: c.sessions[o.Target]}
		if l.of != nil {
			l.after = []*Session{l.of}
		} else { // this connection does not have it
			l.of = &Session{context: briefing{state: correlation.Armed, fetch: &Fetch{}}}
			l.of.exists.Open.ACPID = o.Target
		}
		l.then = l.of.context.state
		s = c.newSession(cmp.Or(o.Cwd, l.of.exists.Open.Cwd))
		l.Session = s
		s.history.expectReplay()
		c.making = append(c.making, s)
		c.lookUp(l)
	default:
		if s = c.sessions[o.Target]; s == nil {
			s = c.newSession(o.Cwd)
			s.exists.Open.ACPID = o.Target
			s.publish()
			c.sessions[o.Target] = s
		}
		s.history.expectReplay()
		s.exists.opening = true
		// also if it is known: another proxy may have changed it meanwhile
		c.lookUp(&Lookup{Session: s, Kind: OpensKnown})
		c.beside.FindRecord(s)
	}
	if o.Off {
		c.switchOff(s)
	}
	return s
}

// continues reports whether a new session continues one whose load or resume has just failed: the client has to be
// known to do so (Options.Continues; docs/facts/acpx.md, "A load that fails").
func (c *Connection) continues(f *Request, cwd string) bool {
	return c.client.Name == c.o.Continues && f.Opening.Cwd == cwd && f.n == c.requests &&
		c.o.Now().Sub(f.at) <= continueWindow
}

// OpeningAnswer is the response to a request that opens a session.
type OpeningAnswer struct {
	ID       string // of a session that was made
	Failed   bool
	Code     int // of the error
	Editing  bool
	Commands map[string]bool // in the response (version 2); nil: none
	Mode     string          // that it is in; "" is not known
}

// OpeningAnswered takes the response to a request that opens a session. It returns the session, nil if it was refused
// or the request came early.
func (c *Connection) OpeningAnswered(req Request, o OpeningAnswer) *Session {
	if req.Opening.Early { // by now frames may be edited: the session is like any other
		if o.Failed || !o.Editing {
			return nil
		}
		req.Session = c.open(req.Opening)
	}
	if o.Failed {
		c.notOpened(req, o.Code)
		return nil
	}
	c.opened(req.Session, req.Opening.makes(), o.ID)
	c.ModeSet(req.Session, o.Mode)
	if o.Commands != nil {
		c.Advertised(req.Session.ID(), o.Commands)
	}
	if req.Opening.Early {
		return nil
	}
	return req.Session
}

// opened notes that the harness has opened a session. made says that it is a new one or a fork, which the response
// calls id.
func (c *Connection) opened(s *Session, made bool, id string) {
	e := &s.exists
	if made {
		c.removeMaking(s)
		if id == "" {
			return
		}
		e.Open.ACPID, e.Open.New, e.Open.Made = id, true, c.o.Now()
		c.sessions[id] = s
		if commands, ok := c.early[id]; ok {
			e.commands = commands
		}
		if delete(c.early, id); len(c.making) == 0 {
			clear(c.early)
		}
	} else if c.sessions[s.ID()] = s; e.recorded { // the client may have closed it in between
		c.waiting.closed = slices.DeleteFunc(c.waiting.closed, func(one *Session) bool { return one == s })
		e.Open.New = false
		c.record(s, e.Opened)
	}
	e.live, e.opening = true, false
	if s.history.replay.step == replayOpen {
		s.history.replay.step = replayAnswered
	}
	if e.ledger.answered() {
		c.recordOpened(s)
	}
	c.settleDoubt(s, false)
	c.touch(s)
}

// Advertised notes the commands that the harness takes in a session. Some harnesses send them before the response that
// names the session.
func (c *Connection) Advertised(id string, commands map[string]bool) {
	if maps.Equal(commands, c.commands) { // most harnesses have the same for all sessions, which share one map
		commands = c.commands
	}
	c.commands = commands
	if s := c.sessions[id]; s != nil {
		s.exists.commands = commands
	} else if len(c.making) > 0 && len(c.early) < maxEarly {
		c.early[id] = commands
	}
}

// notOpened notes that the harness refused to open a session.
func (c *Connection) notOpened(req Request, code int) {
	s := req.Session
	if req.Opening.makes() {
		c.removeMaking(s)
		c.waiting.gone = append(c.waiting.gone, s)
		return
	}
	s.history.replay.step = replayOver
	s.exists.opening = false
	if s.exists.live { // it was open before, and still is
		return
	}
	if code != authRequired { // after a login the client loads it again
		req.at = c.o.Now()
		c.failed = &req
	}
	if e := &s.exists; e.ledger.answered() && e.row == 0 && !e.recorded { // nobody has it
		delete(c.sessions, s.ID())
		c.waiting.gone = append(c.waiting.gone, s)
	}
}

// Closed notes that the client has closed or deleted a session, by a method. It stays in memory only until its last
// words are recorded. If it is opened again it is looked up.
func (c *Connection) Closed(s *Session, method string) {
	for _, t := range slices.Clone(s.turns.open) {
		c.closeUnanswered(t)
	}
	c.recordOpened(s)
	s.exists.live, s.exists.closedBy = false, method
	if c.sessions[s.ID()] == s {
		delete(c.sessions, s.ID())
	}
	c.waiting.closed = append(c.waiting.closed, s)
	c.touch(s)
}

// ModeSet notes which mode the harness says that a session is in; "" says nothing.
func (c *Connection) ModeSet(s *Session, mode string) {
	if mode != "" {
		s.exists.mode = mode
		c.change(s)
	}
}

// Serve gives a session something that nobody will use once it has gone: release is called then.
func (c *Connection) Serve(s *Session, release func()) { s.releases = append(s.releases, release) }
