// Package session is the state of one connection between a client and a harness, as plain data, and one function: what
// was seen on the wire or beside it goes in, what is to be done comes out (Connection.On). There is no lock, channel,
// clock, goroutine or database in it, and it waits for nothing: whoever owns a Connection calls it one call at a time
// and carries out what it says.
//
// A session has four parts that know nothing of each other: whether and as what it exists (existence), what it is told
// (context), its prompts and answers (turns), and what stands in its conversation (history). session.go has them all,
// and do.go what is to be done. The steps stand on these, each file on those before it: record, state, command,
// request, fetch, lookup, held, opening, prompt, update, seen.
package session

import (
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A Connection is what is known of the connection between one client and one harness.
type Connection struct {
	o             Options
	client, agent Program // as both name themselves in initialize; zero: not yet
	sessions      map[string]*Session
	making        []*Session                 // requested, but the harness has not named their ids yet
	pending       map[string]Request         // by request id (IDKey)
	requests      int                        // how many were awaited so far
	early         map[string]map[string]bool // commands by id, of sessions not named yet
	commands      map[string]bool            // those advertised last, to be shared between sessions
	slowest       time.Duration              // that the harness took to open a session
	failed        *failedLoad                // the last request to open a session, if it failed
	listed        map[string]string          // folders of the sessions that the harness has listed, by their ids
	deaf          bool                       // a look-up of a block in a session that is not open took too long
	lookups       []*Lookup                  // of sessions that the client has opened; those that wait for others too
	waiting       waiting

	numbers struct{ session, turn, event int } // the last ones given in the file of events
	folded  int                                // the number of the last event that the ledger is known to have
	changes uint64                             // TurnChanges

	at time.Time // of what is being looked at
	do Do        // what is to be done because of it
}

// Seen is something that was seen: a frame, an answer from beside the conversation, a limit that has passed.
type Seen interface{ on(*Connection) }

// New begins with nothing known.
func New(o Options) *Connection {
	if o.NewKey == nil {
		o.NewKey = correlation.NewKey
	}
	if o.Project == nil {
		o.Project = memory.Project
	}
	if o.Traits == nil {
		o.Traits = func(string) Traits { return Traits{} }
	}
	return &Connection{
		o: o, sessions: map[string]*Session{}, pending: map[string]Request{}, early: map[string]map[string]bool{},
	}
}

// A Program is a client or an agent, by the name and version that it gives itself.
type Program struct{ Name, Version string }

// failedLoad is a load or resume that the harness refused. A session/new right after it continues the conversation
// (docs/facts/acpx.md, "A load that fails").
type failedLoad struct {
	session *Session
	cwd     string
	at      time.Time
	n       int // the request's
}

// waiting is what is still to be redacted and recorded.
type waiting struct {
	due       []*Turn
	unread    int // bytes of prompts that wait to be read
	lost      int // bytes of turns that could not be kept
	titles    []*Session
	summaries []Told
	closed    []closedSession
	gone      []*Session // which nobody will use any more
}

// closedSession is a session that the client has closed, with the method that did it. That is recorded only after its
// last words.
type closedSession struct {
	session *Session
	reason  string
}

// TurnChanges grows with each change that may give the agent's next words to another turn. Whoever has looked a turn up
// may use it without asking again as long as this number is the same.
func (c *Connection) TurnChanges() uint64 { return c.changes }

// Session returns the session with this id, nil if this connection has none.
func (c *Connection) Session(id string) *Session { return c.sessions[id] }

// Sessions returns all sessions that have an id, in no order.
func (c *Connection) Sessions() []*Session {
	all := make([]*Session, 0, len(c.sessions))
	for _, s := range c.sessions {
		all = append(all, s)
	}
	return all
}

// sessionFor returns the session that an update is about, nil for none. Some harnesses replay a fork's history before
// the response that names its id: an unknown id is taken for that of the session that is being made, if there is
// exactly one.
func (c *Connection) sessionFor(id []byte) *Session {
	s := c.sessions[string(id)]
	if s != nil || len(id) == 0 || len(c.making) != 1 {
		return s
	}
	s = c.making[0]
	if s.ID() == "" {
		s.exists.Open.ACPID = string(id)
	}
	if s.ID() != string(id) {
		return nil
	}
	return s
}

// harness is the name under which sessions are stored: the agent's own, else the one that it was started by.
func (c *Connection) harness() string {
	if c.agent.Name != "" {
		return c.agent.Name
	}
	return c.o.Harness
}

func (c *Connection) traits() Traits { return c.o.Traits(c.agent.Name) }

// touch says that something of a session has changed: there may be something to record, or to fetch.
func (c *Connection) touch(s *Session) {
	c.do.Soon = true
	if !slices.Contains(c.do.changed, s) {
		c.do.changed = append(c.do.changed, s)
	}
}

// newSession makes a session that is still to be looked up in the ledger, or to be named by the harness.
func (c *Connection) newSession(cwd string) *Session {
	c.numbers.session++
	s := &Session{
		exists: existence{Opened: correlation.Opened{
			Session: c.numbers.session,
			Open: correlation.OpenSession{
				Harness: c.harness(), Agent: c.agent.Name, AgentVersion: c.agent.Version,
				Cwd: cwd, Project: c.o.Project(cwd), AgentID: c.o.AgentID,
				Client: c.client.Name, ClientVersion: c.client.Version,
			},
		}},
		context: context{state: correlation.Armed},
	}
	if memory.OptedOut(cwd, c.o.Exclude) {
		s.exists.silence = hidden
	}
	return s
}

// orNewKey returns key, or a new one if key is empty.
func (c *Connection) orNewKey(key string) string {
	if key == "" {
		return c.o.NewKey()
	}
	return key
}

// removeMaking takes a session off the list of those without an id.
func (c *Connection) removeMaking(s *Session) {
	c.making = slices.DeleteFunc(c.making, func(m *Session) bool { return m == s })
}
