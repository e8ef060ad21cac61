package session

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

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
	awake     []*Session      // those that were spoken to last, the last one at the end
	commands  map[string]bool // that were advertised last
	changed   []*Session
	listed    []*Turn   // of which something is to be written down
	leaving   []leaving // sessions that are closed
	released  []func()  // of sessions that have gone: what releases their tools
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
	if maps.Equal(commands, c.commands) { // most harnesses have the same for all sessions, which need it once
		commands = c.commands
	}
	c.commands = commands
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

// Busy reports whether a turn is under way.
func (c *Connection) Busy() bool {
	for _, s := range c.sessions {
		if len(s.unanswered) > 0 {
			return true
		}
	}
	return false
}

// Traits gives what is known of this connection's harness.
func (c *Connection) Traits() Traits {
	if c.o.Traits == nil {
		return Traits{}
	}
	return c.o.Traits(c.Agent.Name)
}

// leaving is a session that is closed once its last words are written down.
type leaving struct {
	session *Session
	reason  string
}

// A Summary is a harness's own of a session, as it came, with what must not be in it.
type Summary struct {
	Session         *Session
	Text            string
	Blocks, Private []string
}
