package session

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Options are what sessions are handled by. Funcs may be called with the table's lock held.
type Options struct {
	Harness  string                    // what the harness was started as
	AgentID  string                    // the Signet agent; "" is the daemon's default
	Project  func(cwd string) string   // the project of a folder; nil: memory.Project
	Exclude  []string                  // globs of folders that are left alone
	Commands []string                  // what a slash command starts with
	Reinject Reinject                  // what goes in again after the harness forgot
	Traits   func(agent string) Traits // what is known of a harness; nil is nothing
	Alias    string                    // the client that continues a session by a new one behind a load that failed
	Events   Events                    // where what happens is written down; nil: nowhere
	Now      func() time.Time
	Log      zerolog.Logger
}

// A Connection is one client's with one harness. The table's lock guards all of it, the sessions and the turns
// included.
type Connection struct {
	Client, Agent Program
	TakesNotices  bool     // the client asks for notices
	TakesSystem   bool     // the harness advertises that it takes a system prompt
	Servers       []string // the kinds of MCP servers that a harness of version 2 takes
	Gone          bool     // the client has ended the connection
	Lost          int      // bytes of turns that were not kept, for there was no room
	Unread        int      // bytes of prompts that are to be written down

	o         Options
	words     *atomic.Uint64
	sessions  map[string]*Session
	making    []*Session // their ids are not known yet
	pending   map[string]Request
	requests  int                        // watched so far
	early     map[string]map[string]bool // commands of sessions whose responses have not come, by id
	failed    *failedLoad
	changed   []*Session
	listed    []*Turn   // of which something is to be written down
	leaving   []leaving // sessions that are closed
	summaries []Summary
	titled    []*Session // whose titles nobody has written down yet
	talking   bool       // words or tools have come up that are to be written down
}

// A Program is one end, by the name and version that it gives itself.
type Program struct{ Name, Version string }

// A Request is one of the client's that waits for its response.
type Request struct {
	Method    string
	Session   *Session   // of load, resume, fork's child, new: the session that a success opens
	Injection *Injection // of a prompt: what was put in front of it
	Turn      *Turn      // of a prompt
	Cwd       string     // of a request that opens a session

	Early  bool   // opens a session, and was sent before we knew that we may edit
	Target string // of an early one: the session that it names
	Off    bool   // of an early one: it wants us to leave the session alone

	n int // its place among those that were watched
}

// failedLoad is a load or resume that the harness refused: a session/new
// right behind it continues the conversation (docs/facts/acpx.md, "A load that fails").
type failedLoad struct {
	session *Session
	cwd     string
	at      time.Time
	n       int // the request's
}

// aliasWindow is how soon behind a failed load a new session continues it.
const aliasWindow = 5 * time.Second

func newConnection(o Options, words *atomic.Uint64) *Connection {
	return &Connection{
		o: o, words: words,
		sessions: map[string]*Session{}, pending: map[string]Request{}, early: map[string]map[string]bool{},
	}
}

// EachChanged calls f for the sessions that something has happened to since it was last called, and reports whether
// there were any.
func (c *Connection) EachChanged(f func(*Session)) (any bool) {
	any = len(c.changed) > 0
	for i := 0; i < len(c.changed); i++ { // f may change more
		c.changed[i].changed = false
		f(c.changed[i])
	}
	c.changed = c.changed[:0]
	return any
}

// Touch notes that there is something to do about a session.
func (c *Connection) Touch(s *Session) {
	if !s.changed {
		s.changed = true
		c.changed = append(c.changed, s)
	}
}

// Await notes a request whose response is to be watched. key is its id.
func (c *Connection) Await(key string, req Request) {
	if old, ok := c.pending[key]; ok && old.Turn != nil { // a client that uses an id twice gets one answer for both
		c.close(old.Turn)
	}
	c.requests++
	req.n = c.requests
	c.pending[key] = req
}

// Awaits reports whether a request with this id is waiting for its response.
func (c *Connection) Awaits(key func() string) bool {
	if len(c.pending) == 0 {
		return false
	}
	_, ok := c.pending[key()]
	return ok
}

// Answered takes the request that a response with this id answers.
func (c *Connection) Answered(key string) (Request, bool) {
	req, ok := c.pending[key]
	delete(c.pending, key)
	return req, ok
}

// Session gives a session by its id, nil if this connection has none of that name.
func (c *Connection) Session(id string) *Session { return c.sessions[id] }

// SessionOf is Session, of an id that is still bytes.
func (c *Connection) SessionOf(id []byte) *Session { return c.sessions[string(id)] }

// Sessions gives all that have an id.
func (c *Connection) Sessions() []*Session {
	all := make([]*Session, 0, len(c.sessions))
	for _, s := range c.sessions {
		all = append(all, s)
	}
	return all
}

// SessionFor finds the session that an update is about. Some harnesses show
// a fork's history before the response that names its id: what is about nobody
// is about the session that is being made, where there is one alone.
func (c *Connection) SessionFor(id []byte) *Session {
	s := c.SessionOf(id)
	if s != nil || len(id) == 0 || len(c.making) != 1 {
		return s
	}
	s = c.making[0]
	if s.early == "" {
		s.early = string(id)
	}
	if s.early != string(id) {
		return nil
	}
	return s
}

// Makes reports whether a session is being made, whose id nobody knows yet.
func (c *Connection) Makes() bool { return len(c.making) > 0 }

// Advertise notes the commands that the harness takes in a session. Some name them before the response that names the
// session.
func (c *Connection) Advertise(id string, commands map[string]bool) {
	if s := c.sessions[id]; s != nil {
		s.commands = commands
	} else if c.Makes() && len(c.early) < maxEarly {
		c.early[id] = commands
	}
}

// Harness is the name that sessions are known by: the agent's own, else the one that it was started as.
func (c *Connection) Harness() string {
	if c.Agent.Name != "" {
		return c.Agent.Name
	}
	return c.o.Harness
}

// newSession makes a session that has still to be looked up or named.
func (c *Connection) newSession(cwd string) *Session {
	project := memory.Project
	if c.o.Project != nil {
		project = c.o.Project
	}
	who := memory.Session{Harness: c.Harness(), Cwd: cwd, Project: project(cwd), AgentID: c.o.AgentID}
	hidden := memory.OptedOut(cwd, c.o.Exclude)
	number := 0
	if c.o.Events != nil {
		number = c.o.Events.NewSession()
	}
	return &Session{
		Number: number,
		Who:    who,
		Ready:  make(chan struct{}),
		Open: correlation.OpenSession{
			Harness: c.Harness(), Agent: c.Agent.Name, AgentVersion: c.Agent.Version,
			Cwd: cwd, Project: who.Project, AgentID: c.o.AgentID,
			Client: c.Client.Name, ClientVersion: c.Client.Version,
		},
		state: correlation.Armed, Off: hidden, Hidden: hidden,
	}
}

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

// isThere notes that the harness has a session.
func (s *Session) isThere() { s.Live = true }

// made takes a session off the list of those that are being made.
func (c *Connection) made(s *Session) {
	c.making = slices.DeleteFunc(c.making, func(m *Session) bool { return m == s })
}

// NotOpened notes that the harness refused to open a session, and by which error code.
func (c *Connection) NotOpened(req Request, made bool, code int) {
	s := req.Session
	if made {
		c.made(s)
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
	}
}

// Busy reports whether a turn is under way.
func (c *Connection) Busy() bool {
	for _, s := range c.sessions {
		if len(s.unanswered) > 0 {
			return true
		}
	}
	return false
}

// IDKey makes equal ids equal strings: a peer may spell a number or a string differently when it answers. text
// decodes a JSON string. A string never equals a number.
func IDKey(token []byte, text func([]byte) (string, bool)) string {
	if len(token) > 0 && token[0] == '"' {
		if s, ok := text(token); ok {
			return `"` + s
		}
	}
	if slices.ContainsFunc(token, func(b byte) bool { return b == '.' || b == 'e' || b == 'E' }) {
		if f, err := strconv.ParseFloat(string(token), 64); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return string(token)
}

// Traits gives what is known of this connection's harness.
func (c *Connection) Traits() Traits {
	if c.o.Traits == nil {
		return Traits{}
	}
	return c.o.Traits(c.Agent.Name)
}
