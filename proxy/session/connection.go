// Package session has the sessions of one connection between a client and a harness, and the goroutine that owns them
// (Owner): it alone calls the methods of Connection, one after the other, as things happen. None of them waits but the
// way of a held prompt (Connection.Release), and that handles meanwhile what comes.
//
// A session has four parts that know nothing of each other: whether and as what it exists (existence), what it is told
// (briefing), its prompts and answers (turns), and what stands in its conversation (history). session.go has them all.
// The methods stand on these, each file on those before it: record, state, command, request, fetch, owner, lookup,
// seek, held, release, opening, prompt, update, known.
package session

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A Connection is what is known of the connection between one client and one harness.
type Connection struct {
	o             Options
	client, agent Program // as both name themselves in initialize; zero: not yet
	traits        Traits  // the agent's
	sessions      map[string]*Session
	making        []*Session                 // requested, but the harness has not named their ids yet
	pending       map[string]Request         // by request id, however it is spelled
	requests      int                        // how many were awaited so far
	early         map[string]map[string]bool // commands by id, of sessions not named yet
	commands      map[string]bool            // those advertised last, to be shared between sessions
	slowest       time.Duration              // that the harness took to open a session
	failed        *Request                   // the last request to open a session, if it failed, and when
	listed        map[string]string          // folders of the sessions that the harness has listed, by their ids
	deaf          bool                       // a look-up of a block in a session that is not open took too long
	lookups       []*Lookup                  // of sessions that the client has opened; those that wait for others too
	waiting       waiting

	numbers struct{ session, turn int } // the last ones given in our events

	beside      Beside
	inbox       chan func()                              // what the goroutine is to do
	turnChanges atomic.Uint64                            // Owner.TurnChanges
	changed     []*Session                               // since it has done something
	waiters     map[chan struct{}]func(*Connection) bool // to be closed once that is so (Owner.Await)
}

// newConnection begins with nothing known.
func newConnection(o Options, b Beside) *Connection {
	if o.NewKey == nil {
		o.NewKey = correlation.NewKey
	}
	if o.Project == nil {
		o.Project = memory.Project
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Connection{
		o: o, traits: o.Traits, beside: b, inbox: make(chan func()),
		waiters:  map[chan struct{}]func(*Connection) bool{},
		sessions: map[string]*Session{}, pending: map[string]Request{}, early: map[string]map[string]bool{},
	}
}

// A Program is a client or an agent, by the name and version that it gives itself.
type Program struct{ Name, Version string }

// A Request is a request of the client that waits for its response.
type Request struct {
	Method    string     // of any but a prompt
	Session   *Session   // the session that it is about, or that a success opens; for a fork the child
	Injection *Injection // of a prompt: the block in front of it; nil for none
	Turn      *Turn      // of a prompt
	Opening   Opening    // of a request that opens a session

	n  int       // its number among those that were awaited
	at time.Time // when it came
}

// waiting is what is still to be redacted and recorded.
type waiting struct {
	due       []*Turn
	unread    int // bytes of prompts that wait to be read
	lost      int // bytes of turns that could not be kept
	titles    []*Session
	summaries []Told
	closed    []*Session // by the client; that is recorded only after their last words
	gone      []*Session // which nobody will use any more
}

// Told is what a harness says about a conversation: a title, or its own summary. Before it is stored, our Blocks, which
// would be taken for its own words, and the user's Private passages have to be taken out.
type Told struct {
	Session         *Session
	Project, Text   string
	Blocks, Private []string
}

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
		c.change(s)
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

// touch says that something of a session has changed: there may be something to record, or to fetch.
func (c *Connection) touch(s *Session) {
	c.beside.Hurry(Soon)
	c.change(s)
}

// change says that what is known of a session may have changed.
func (c *Connection) change(s *Session) {
	if !slices.Contains(c.changed, s) {
		c.changed = append(c.changed, s)
	}
}

// newSession makes a session that is still to be looked up in the ledger, or to be named by the harness.
func (c *Connection) newSession(cwd string) *Session {
	c.numbers.session++
	s := &Session{
		Number: c.numbers.session,
		exists: existence{Opened: correlation.Opened{
			Session: c.numbers.session,
			Open: correlation.OpenSession{
				Harness: c.harness(), Agent: c.agent.Name, AgentVersion: c.agent.Version,
				Cwd: cwd, Project: c.o.Project(cwd), AgentID: c.o.AgentID,
				Client: c.client.Name, ClientVersion: c.client.Version,
			},
		}},
		context: briefing{state: correlation.Armed, fetch: &Fetch{}},
	}
	if memory.Excluded(cwd, c.o.Exclude) {
		s.exists.silence = hidden
	}
	s.publish()
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
