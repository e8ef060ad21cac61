package session

import (
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// aliasWindow is how soon after a failed load a new session continues it.
const aliasWindow = 5 * time.Second

// RequestNew notes a session/new. failed is the session whose load has just failed and which the new one continues; nil
// for none. Only the very next request continues it, and only of a client that is known to do so (Options.Alias).
func (c *Connection) RequestNew(cwd string) (s, failed *Session) {
	f := c.takeFailed()
	if f != nil && c.Client.Name == c.o.Alias && f.cwd == cwd && f.n == c.requests &&
		c.o.Now().Sub(f.at) <= aliasWindow {
		failed = f.session
	}
	s = c.newSession(cwd)
	c.making = append(c.making, s)
	return s, failed
}

// RequestFork notes a session/fork of target. parent is nil if this connection does not have it.
func (c *Connection) RequestFork(target, cwd string) (s, parent *Session) {
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

// RequestOpen notes a session/load or session/resume of target. The session has to be looked up, also if this
// connection has it: another proxy may have changed it meanwhile.
func (c *Connection) RequestOpen(target, cwd string) *Session {
	c.takeFailed()
	s := c.sessions[target]
	if s == nil {
		s = c.newSession(cwd)
		s.ID = target
		c.sessions[target] = s
	} else {
		s.Ready, s.ReplayWaited = make(chan struct{}), false
	}
	s.expectReplay()
	return s
}

func (c *Connection) takeFailed() *failedLoad {
	failed := c.failed
	c.failed = nil
	return failed
}

// Opened notes that the harness has opened a session. made says that it is a new one or a fork, which the response
// calls id.
func (c *Connection) Opened(s *Session, made bool, id string) {
	if made {
		c.removeMaking(s)
		if id == "" {
			return
		}
		s.ID, s.Open.New, s.Open.Made = id, true, c.o.Now()
		c.sessions[id] = s
		if commands, ok := c.early[id]; ok {
			s.commands = commands
		}
		if delete(c.early, id); !c.Making() {
			clear(c.early)
		}
	} else if c.sessions[s.ID] = s; s.opened { // the client may have closed it in between
		c.closed = slices.DeleteFunc(c.closed, func(l closedSession) bool { return l.session == s })
		s.Open.New = false
		c.record(s, s.openedEvent())
	}
	s.Live = true
	s.replay.whole = true
	if s.LookedUp() {
		c.recordOpened(s)
	}
	c.SettleDoubt(s, false)
	c.Touch(s)
}

// removeMaking takes a session off the list of those without an id.
func (c *Connection) removeMaking(s *Session) {
	c.making = slices.DeleteFunc(c.making, func(m *Session) bool { return m == s })
}

// NotOpened notes that the harness refused to open a session, and its error code.
func (c *Connection) NotOpened(req Request, made bool, code int) {
	s := req.Session
	if made {
		c.removeMaking(s)
		c.release(s)
		return
	}
	s.replay.open = false
	if s.Live { // it was open before, and still is
		return
	}
	if code != authRequired { // after a login the client loads it again
		c.failed = &failedLoad{session: s, cwd: req.Cwd, at: c.o.Now(), n: req.n}
	}
	if s.LookedUp() && s.Row == 0 && !s.opened { // neither the ledger nor the harness has it
		delete(c.sessions, s.ID)
		c.release(s)
	}
}

// OnRelease notes a function that is to be called once the session has gone: it releases what the session's MCP server
// holds.
func (s *Session) OnRelease(release func()) { s.releases = append(s.releases, release) }

func (c *Connection) release(s *Session) {
	c.released = append(c.released, s.releases...)
	s.releases = nil
}

// TakeReleased returns the OnRelease functions of sessions that have gone since the last call. The caller calls them,
// without the lock.
func (c *Connection) TakeReleased() []func() {
	all := c.released
	c.released = nil
	return all
}

// Closed forgets a session that the client has closed or deleted, by method. It stays in memory only until its last
// words are recorded. If it is opened again it is looked up.
func (c *Connection) Closed(s *Session, method string) {
	for _, t := range slices.Clone(s.unanswered) {
		c.closeUnanswered(t)
	}
	c.recordOpened(s)
	s.Live = false
	if c.sessions[s.ID] == s {
		delete(c.sessions, s.ID)
	}
	c.closed = append(c.closed, closedSession{s, method})
	c.Touch(s)
}

// RecordClosed appends an event for each session that was closed, and reports whether there were any. Call it after the
// sessions' last words were recorded. A session that was opened again meanwhile has not left.
func (c *Connection) RecordClosed() (any bool) {
	for _, l := range c.closed {
		if again := c.sessions[l.session.ID]; again != nil && again.Live {
			continue
		}
		c.release(l.session)
		any = true
		c.record(l.session, eventlog.Left{Session: l.session.Number, Reason: l.reason})
	}
	c.closed = nil
	return any
}
