package session

import (
	"maps"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A Connection is what is known of the connection between one client and one harness. The table's lock guards all of
// it, its sessions and turns included: whoever has a *Connection holds the lock.
type Connection struct {
	Client, Agent Program  // as both name themselves in initialize; zero: not yet
	TakesNotices  bool     // the client asks for notice updates
	TakesSystem   bool     // the harness advertises that it takes a system prompt
	Servers       []string // the kinds of MCP servers that a harness of version 2 takes
	Gone          bool     // the client, not the harness, ended the connection
	Lost          int      // bytes of turns that could not be kept
	Unread        int      // bytes of prompts that wait to be read and recorded

	o           Options
	turnChanges *atomic.Uint64
	sessions    map[string]*Session
	making      []*Session                 // requested, but the harness has not named their ids yet
	pending     map[string]Request         // by request id (IDKey)
	requests    int                        // how many were awaited so far
	early       map[string]map[string]bool // commands by id, of sessions not named yet
	failed      *failedLoad                // the last request to open a session, if it failed
	commands    map[string]bool            // those advertised last, to be shared between sessions
	changed     []*Session                 // since EachChanged
	due         []*Turn                    // those with something to record
	closed      []closedSession            // whose closing is still to be recorded
	released    []func()                   // to be called, because their sessions have gone
	summaries   []Summary
	newTitles   []*Session // those whose titles are to be recorded
	streamed    bool       // text or tool calls have come that are to be recorded
}

// A Program is a client or an agent, by the name and version that it gives itself.
type Program struct{ Name, Version string }

// A Request is a request of the client that waits for its response.
type Request struct {
	Method    string
	Session   *Session   // the session that it is about, or that a success opens; for a fork the child
	Injection *Injection // of a prompt: the block in front of it; nil for none
	Turn      *Turn      // of a prompt
	Cwd       string     // of a request that opens a session

	Early  bool   // opens a session, and came before the initialize response said that frames may be edited
	Target string // of an early one: the session id in it
	Off    bool   // of an early one: its _meta switches memory off

	n int // its number among those that were awaited
}

// failedLoad is a load or resume that the harness refused. A session/new right after it continues the conversation
// (docs/facts/acpx.md, "A load that fails").
type failedLoad struct {
	session *Session
	cwd     string
	at      time.Time
	n       int // the request's
}

func newConnection(o Options, turnChanges *atomic.Uint64) *Connection {
	return &Connection{
		o: o, turnChanges: turnChanges,
		sessions: map[string]*Session{}, pending: map[string]Request{}, early: map[string]map[string]bool{},
	}
}

// EachChanged calls f for each session that was touched since the last call, and reports whether there were any.
func (c *Connection) EachChanged(f func(*Session)) (any bool) {
	any = len(c.changed) > 0
	for i := 0; i < len(c.changed); i++ { // f may change more
		c.changed[i].changed = false
		f(c.changed[i])
	}
	c.changed = c.changed[:0]
	return any
}

// Touch marks a session as changed, so that the function after Update looks at it.
func (c *Connection) Touch(s *Session) {
	if !s.changed {
		s.changed = true
		c.changed = append(c.changed, s)
	}
}

// Session returns the session with this id, nil if this connection has none.
func (c *Connection) Session(id string) *Session { return c.sessions[id] }

// SessionOf is Session for an id that still points into a frame.
func (c *Connection) SessionOf(id []byte) *Session { return c.sessions[string(id)] }

// Sessions returns all sessions that have an id, in no order.
func (c *Connection) Sessions() []*Session {
	all := make([]*Session, 0, len(c.sessions))
	for _, s := range c.sessions {
		all = append(all, s)
	}
	return all
}

// SessionFor returns the session that an update is about, nil for none. Some harnesses replay a fork's history before
// the response that names its id: an unknown id is taken for that of the session that is being made, if there is
// exactly one.
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

// Making reports whether a session was requested whose id is not known yet.
func (c *Connection) Making() bool { return len(c.making) > 0 }

// Advertise notes the commands that the harness takes in a session. Some harnesses send them before the response that
// names the session.
func (c *Connection) Advertise(id string, commands map[string]bool) {
	if maps.Equal(commands, c.commands) { // most harnesses have the same for all sessions, which share one map
		commands = c.commands
	}
	c.commands = commands
	if s := c.sessions[id]; s != nil {
		s.commands = commands
	} else if c.Making() && len(c.early) < maxEarly {
		c.early[id] = commands
	}
}

// Harness is the name under which sessions are stored: the agent's own, else the one that it was started by.
func (c *Connection) Harness() string {
	if c.Agent.Name != "" {
		return c.Agent.Name
	}
	return c.o.Harness
}

// newSession makes a session that is still to be looked up in the ledger, or to be named by the harness.
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

// Busy reports whether a prompt of any session waits for its response.
func (c *Connection) Busy() bool {
	for _, s := range c.sessions {
		if len(s.unanswered) > 0 {
			return true
		}
	}
	return false
}

// Traits returns what is known of this connection's harness.
func (c *Connection) Traits() Traits {
	if c.o.Traits == nil {
		return Traits{}
	}
	return c.o.Traits(c.Agent.Name)
}

// closedSession is a session that the client has closed, with the method that did it. That is recorded only after its
// last words.
type closedSession struct {
	session *Session
	reason  string
}

// A Summary is the harness's own summary of a conversation that it has compacted, as it came. Before it is stored, our
// Blocks and the user's Private passages have to be taken out.
type Summary struct {
	Session         *Session
	Text            string
	Blocks, Private []string
}
