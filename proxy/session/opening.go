package session

import (
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// aliasWindow is how soon behind a failed load a new session continues it.
const aliasWindow = 5 * time.Second

// Make notes a request for a new session. failed is the session whose load has just failed, which the new one
// continues; nil if there is none. Only the very next request can, and only of a client that means that by it.
func (c *Connection) Make(cwd string) (s, failed *Session) {
	f := c.takeFailed()
	if f != nil && c.Client.Name == c.o.Alias && f.cwd == cwd && f.n == c.requests &&
		c.o.Now().Sub(f.at) <= aliasWindow {
		failed = f.session
	}
	s = c.newSession(cwd)
	c.making = append(c.making, s)
	return s, failed
}

// Fork notes a request for a fork of a session. parent is nil where this connection does not have it.
func (c *Connection) Fork(target, cwd string) (s, parent *Session) {
	c.takeFailed()
	parent = c.sessions[target]
	if cwd == "" && parent != nil {
		cwd = parent.Who.Cwd
	}
	s = c.newSession(cwd)
	s.expectReplay()
	c.making = append(c.making, s)
	return s, parent
}

// Reopen notes a request that opens a session by its id: it has to be looked up, also if it is known, for another
// proxy may have changed it meanwhile.
func (c *Connection) Reopen(target, cwd string) *Session {
	c.takeFailed()
	s := c.sessions[target]
	if s == nil {
		s = c.newSession(cwd)
		s.ID = target
		c.sessions[target] = s
	} else {
		s.Ready, s.Awaited = make(chan struct{}), false
	}
	s.expectReplay()
	return s
}

func (c *Connection) takeFailed() *failedLoad {
	failed := c.failed
	c.failed = nil
	return failed
}

// Opened takes in a session that the harness has. id is what the response calls it: of a new one or a fork.
func (c *Connection) Opened(s *Session, made bool, id string) {
	if made {
		c.made(s)
		if id == "" {
			return
		}
		s.ID, s.Open.New, s.Open.Made = id, true, c.o.Now()
		c.sessions[id] = s
		if commands, ok := c.early[id]; ok {
			s.commands = commands
		}
		if delete(c.early, id); !c.Makes() {
			clear(c.early)
		}
	} else if c.sessions[s.ID] = s; s.opened { // the client may have closed it in between
		c.leaving = slices.DeleteFunc(c.leaving, func(l leaving) bool { return l.session == s })
		s.Open.New = false
		c.append(s, s.event())
	}
	s.isThere()
	s.replay.whole = true
	if s.Settled() {
		c.open(s)
	}
	c.SettleDoubt(s, false)
	c.Touch(s)
}

// made takes a session off the list of those that are being made.
func (c *Connection) made(s *Session) {
	c.making = slices.DeleteFunc(c.making, func(m *Session) bool { return m == s })
}

// NotOpened notes that the harness refused to open a session, and by which error code.
func (c *Connection) NotOpened(req Request, made bool, code int) {
	s := req.Session
	if made {
		c.made(s)
		c.release(s)
		return
	}
	s.replay.open = false
	if s.Live { // it is still there
		return
	}
	if code != authRequired { // whoever logs in tries again
		c.failed = &failedLoad{session: s, cwd: req.Cwd, at: c.o.Now(), n: req.n}
	}
	if s.Settled() && s.Row == 0 && !s.opened { // nobody knows it
		delete(c.sessions, s.ID)
		c.release(s)
	}
}

// Serve notes what releases what a session's memory tools hold, once it has gone.
func (s *Session) Serve(release func()) { s.served = append(s.served, release) }

func (c *Connection) release(s *Session) {
	c.released = append(c.released, s.served...)
	s.served = nil
}

// Released gives what releases the tools of sessions that have gone since it was last called.
func (c *Connection) Released() []func() {
	all := c.released
	c.released = nil
	return all
}

// Closed ends a session that the client has closed or deleted: nothing is known of it any more once its last words
// are written down. If it is opened again it is looked up.
func (c *Connection) Closed(s *Session, method string) {
	for _, t := range slices.Clone(s.unanswered) {
		c.close(t)
	}
	c.open(s)
	s.Live = false
	if c.sessions[s.ID] == s {
		delete(c.sessions, s.ID)
	}
	c.awake = slices.DeleteFunc(c.awake, func(one *Session) bool { return one == s })
	c.leaving = append(c.leaving, leaving{s, method})
	c.Touch(s)
}

// Leaving writes down that sessions were closed, whose last words stand there by now, and reports whether there were
// any. One that is there again has not left.
func (c *Connection) Leaving() (any bool) {
	for _, l := range c.leaving {
		if again := c.sessions[l.session.ID]; again != nil && again.Live {
			continue
		}
		c.release(l.session)
		any = true
		c.append(l.session, eventlog.Left{Session: l.session.Number, Reason: l.reason})
	}
	c.leaving = nil
	return any
}
