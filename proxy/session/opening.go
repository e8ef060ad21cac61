package session

import (
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// An Opening is a request that opens a session.
type Opening struct {
	Kind   OpeningKind
	Target string // the session's id, or that of a fork's parent; "" for a new one
	Cwd    string
	Off    bool // its _meta switches memory off
	Early  bool // it came before the initialize response said that frames may be edited
}

// OpeningKind is how a session is opened.
type OpeningKind uint8

const (
	OpensNone  OpeningKind = iota
	OpensNew               // session/new
	OpensKnown             // session/load, session/resume
	OpensFork              // session/fork
)

// makes reports whether a success makes a session.
func (o Opening) makes() bool { return o.Kind == OpensNew || o.Kind == OpensFork }

// aliasWindow is how soon after a failed load a new session continues it.
const aliasWindow = 5 * time.Second

// failedLoad is a load or resume that the harness refused. A session/new right after it continues the conversation
// (docs/facts/acpx.md, "A load that fails").
type failedLoad struct {
	session *Session
	cwd     string
	at      time.Time
	n       int // the request's
}

// OpeningAsked: a request that opens a session. Do.Session is the session, and Do.Lookups asks the ledger about it. An
// early request is noted for the moment when its response comes.
type OpeningAsked struct {
	Key, Method string
	Opening     Opening
}

func (o OpeningAsked) on(c *Connection) {
	req := Request{Method: o.Method, Opening: o.Opening}
	if !o.Opening.Early {
		req.Session = c.open(o.Opening)
		c.do.Session = req.Session
	}
	c.await(o.Key, req)
}

func (c *Connection) open(o Opening) (s *Session) {
	failed := c.failed // only the very next request continues it
	c.failed = nil
	switch o.Kind {
	case OpensNew:
		s = c.newSession(o.Cwd)
		l := Lookup{Session: s, Kind: OpensNew}
		if failed != nil && c.continues(failed, o.Cwd) {
			l.failed = failed.session
		}
		for _, old := range c.sessions { // it may continue them
			if !old.exists.live {
				l.after = append(l.after, old)
			}
		}
		c.making = append(c.making, s)
		c.lookUp(l)
	case OpensFork:
		parent := c.sessions[o.Target]
		cwd := o.Cwd
		if cwd == "" && parent != nil {
			cwd = parent.exists.who.Cwd
		}
		s = c.newSession(cwd)
		s.history.expectReplay()
		c.making = append(c.making, s)
		c.lookUpFork(s, parent, o.Target)
	default:
		if s = c.sessions[o.Target]; s == nil {
			s = c.newSession(o.Cwd)
			s.ID = o.Target
			c.sessions[o.Target] = s
		}
		s.history.expectReplay()
		// also if it is known: another proxy may have changed it meanwhile
		c.lookUp(Lookup{Session: s, Kind: OpensKnown})
	}
	if o.Off {
		c.switchOff(s)
	}
	return s
}

// continues reports whether a new session continues one whose load has just failed: the client has to be known to do so
// (Options.Alias).
func (c *Connection) continues(f *failedLoad, cwd string) bool {
	return c.client.Name == c.o.Alias && f.cwd == cwd && f.n == c.requests && c.at.Sub(f.at) <= aliasWindow
}

// OpeningAnswered: the response to a request that opens a session. Do.Session is the session, unless it was refused.
type OpeningAnswered struct {
	Request  Request
	ID       string // of a session that was made
	Failed   bool
	Code     int // of the error
	Editing  bool
	Commands map[string]bool // in the response (version 2); nil: none
	Mode     string          // that it is in; "" is not known
}

func (o OpeningAnswered) on(c *Connection) {
	req := o.Request
	if req.Opening.Early { // by now frames may be edited: the session is like any other
		if o.Failed || !o.Editing {
			return
		}
		req.Session = c.open(req.Opening)
	}
	if o.Failed {
		c.notOpened(req, o.Code)
		return
	}
	c.opened(req.Session, req.Opening.makes(), o.ID)
	ModeSet{req.Session, o.Mode}.on(c)
	if !req.Opening.Early {
		c.do.Session = req.Session
	}
	if o.Commands != nil {
		c.advertise(req.Session.ID, o.Commands)
	}
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
		s.ID, e.open.New, e.open.Made = id, true, c.at
		c.sessions[id] = s
		if commands, ok := c.early[id]; ok {
			e.commands = commands
		}
		if delete(c.early, id); len(c.making) == 0 {
			clear(c.early)
		}
	} else if c.sessions[s.ID] = s; e.events.opened { // the client may have closed it in between
		c.waiting.closed = slices.DeleteFunc(c.waiting.closed, func(l closedSession) bool { return l.session == s })
		e.open.New = false
		c.record(s, e.opened(s.ID, s.Number))
	}
	e.live = true
	s.history.replay.whole = true
	if e.ledger != asked {
		c.recordOpened(s)
	}
	c.settleDoubt(s, false)
	c.touch(s)
}

// removeMaking takes a session off the list of those without an id.
func (c *Connection) removeMaking(s *Session) {
	c.making = slices.DeleteFunc(c.making, func(m *Session) bool { return m == s })
}

// notOpened notes that the harness refused to open a session.
func (c *Connection) notOpened(req Request, code int) {
	s := req.Session
	if req.Opening.makes() {
		c.removeMaking(s)
		c.release(s)
		return
	}
	s.history.replay.open = false
	if s.exists.live { // it was open before, and still is
		return
	}
	if code != authRequired { // after a login the client loads it again
		c.failed = &failedLoad{session: s, cwd: req.Opening.Cwd, at: c.at, n: req.n}
	}
	if s.exists.ledger != asked && s.exists.row == 0 && !s.exists.events.opened { // nobody has it
		delete(c.sessions, s.ID)
		c.release(s)
	}
}

// Served: a session has an MCP server of ours. Release is to be called once the session has gone.
type Served struct {
	Session *Session
	Release func()
}

func (o Served) on(*Connection) {
	o.Session.exists.releases = append(o.Session.exists.releases, o.Release)
}

func (c *Connection) release(s *Session) {
	c.waiting.released = append(c.waiting.released, s.exists.releases...)
	s.exists.releases = nil
}

// Closed: the client has closed or deleted a session, by Method. It stays in memory only until its last words are
// recorded. If it is opened again it is looked up.
type Closed struct {
	Session *Session
	Method  string
}

func (l Closed) on(c *Connection) {
	s := l.Session
	for _, t := range slices.Clone(s.turns.open) {
		c.closeUnanswered(t)
	}
	c.recordOpened(s)
	s.exists.live = false
	if c.sessions[s.ID] == s {
		delete(c.sessions, s.ID)
	}
	c.waiting.closed = append(c.waiting.closed, closedSession{s, l.Method})
	c.touch(s)
}

// RecordFound: the record id that acpx has for a session.
type RecordFound struct {
	Session *Session
	Record  string
}

func (r RecordFound) on(c *Connection) {
	s := r.Session
	if s.exists.open.Record != r.Record {
		s.exists.open.Record = r.Record
		c.record(s, eventlog.RecordKnown{Session: s.Number, Record: r.Record})
	}
}

// RecordsSought: Do.Sessions are those that Client has made and whose acpx records are not known.
type RecordsSought struct{ Client string }

func (r RecordsSought) on(c *Connection) {
	if c.client.Name != r.Client {
		return
	}
	for _, s := range c.sessions {
		if s.exists.live && s.exists.open.New && s.exists.open.Record == "" {
			c.do.Sessions = append(c.do.Sessions, s)
		}
	}
}

// SessionSought: Do.Who is what is known of a session, and Do.Off says that it is switched off. With Wait it waits for
// what the ledger has to say (Do.Wait), unless it is Late.
type SessionSought struct {
	Session    *Session
	Wait, Late bool
}

func (k SessionSought) on(c *Connection) {
	e := &k.Session.exists
	c.do.Who, c.do.Mode, c.do.Off = e.who, e.mode, k.Session.off()
	c.do.Wait = k.Wait && !k.Late && !c.do.Off && e.ledger == asked
}

// TurnsSought: Do.Sessions are those in which a turn is under way.
type TurnsSought struct{}

func (TurnsSought) on(c *Connection) {
	for _, s := range c.sessions {
		if s.exists.live && !s.off() && len(s.turns.open) > 0 && s.turns.open[0].forwarded {
			c.do.Sessions = append(c.do.Sessions, s)
		}
	}
}

// ClientGone: the client has gone. Do.Busy says that a prompt still waits for its response.
type ClientGone struct{}

func (ClientGone) on(c *Connection) {
	for _, s := range c.sessions {
		c.do.Busy = c.do.Busy || len(s.turns.open) > 0
	}
}
