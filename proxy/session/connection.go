// Package session is the state of one connection between a client and a harness, as plain data, and one function: what
// was seen on the wire or beside it goes in, what is to be done comes out (Connection.On). There is no lock, channel,
// clock, goroutine or database in it, and it waits for nothing: whoever owns a Connection calls it one call at a time
// and carries out what it says.
//
// A session has four parts that know nothing of each other: whether and as what it exists (existence), what it is told
// (context), its prompts and answers (turns), and what stands in its conversation (history). The other files say what a
// connection makes of what was seen, part by part.
package session

import (
	"maps"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
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
	failed        *failedLoad                // the last request to open a session, if it failed
	lookups       []Lookup                   // that wait for others
	waiting       waiting

	numbers struct{ session, turn int } // the last ones given in the file of events
	changes uint64                      // TurnChanges

	at time.Time // of what is being looked at
	do Do        // what is to be done because of it
}

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

// Seen is something that was seen: a frame, an answer from beside the conversation, a limit that has passed.
type Seen interface{ on(*Connection) }

// On takes what was seen, and when, and returns what is to be done.
func (c *Connection) On(at time.Time, seen Seen) Do {
	c.at, c.do = at, Do{}
	seen.on(c)
	c.beginFetches()
	if c.waiting.unread > maxUnread {
		c.do.Full = true
	}
	do := c.do
	c.do = Do{}
	return do
}

// Do is what is to be done because of what was seen, and what who has seen it needs to know for that.
type Do struct {
	Frame   Frame      // what becomes of the frame that was seen
	Session *Session   // that it is about; nil: none that is known
	Turn    *Turn      // that it is about, or that it begins
	Request Request    // that it answers
	Cut     int        // how many bytes at the start of its text are ours
	Text    int        // of which of its texts
	Title   *Injection // it is a title made from this block alone, which the ledger is to note
	Wait    bool       // come back once there is news

	// For the file of events.
	Record  []eventlog.Event // in this order
	Ended   eventlog.Event   // like Record, and has to be in the file before the frame is forwarded; nil: nothing
	Say     []byte           // becomes Turn's answer, if there is no other; escaped as it came
	Due     Due              // to be redacted
	Private []string         // passages that nothing recorded may repeat
	Soon    bool             // there is something to record: soon,
	Later   bool             // within a while,
	Full    bool             // at once
	Left    bool             // that sessions were closed is recorded

	// Beside the conversation.
	Lookups []Lookup   // to ask of the ledger
	Orphan  bool       // the session's parent is to be looked for
	Rows    []int64    // of sessions whose stored contexts would be of use
	Behind  []Behind   // of which the ledger may not have all
	Fetches []FetchJob // to ask of memory
	Recall  *RecallJob // likewise
	Held    *Held      // the prompt that is held from now on
	Prompt  Step       // what a held prompt needs
	Release []func()   // to be called
	Faults  []Fault    // to be logged
	News    bool       // whoever waits may go on

	// What is known.
	Who      memory.Session
	Mode     string   // the harness's, as it said last; "" is not known
	Seen     []string // items that the session was given
	Off      bool     // nothing is inserted or recorded
	Busy     bool     // a prompt waits for its response
	Sessions []*Session
	Blocks   []*Injection
	Row      int64
	Known    bool // the ledger has said what Blocks there are
	Lost     int  // bytes of turns that could not be kept

	changed []*Session
}

// A Fault is a fault of this program's own.
type Fault struct {
	Session *Session
	Err     error
}

// A Frame says what becomes of a frame.
type Frame uint8

const (
	Forward Frame = iota // as it is
	Look                 // forward it, and look at it then
	Hold                 // keep it until it is whole
)

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
	if s.exists.early == "" {
		s.exists.early = string(id)
	}
	if s.exists.early != string(id) {
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

// A Program is a client or an agent, by the name and version that it gives itself.
type Program struct{ Name, Version string }

// ClientGreeted: an initialize request, whose response is awaited.
type ClientGreeted struct {
	Client      Program
	Key, Method string // of the request
}

func (g ClientGreeted) on(c *Connection) {
	c.client = g.Client
	c.await(g.Key, Request{Method: g.Method})
}

// AgentGreeted: the response to an initialize request.
type AgentGreeted struct{ Agent Program }

func (g AgentGreeted) on(c *Connection) { c.agent = g.Agent }

// Advertised: the commands that the harness takes in a session. Some harnesses send them before the response that names
// the session.
type Advertised struct {
	ID       string
	Commands map[string]bool
}

func (a Advertised) on(c *Connection) { c.advertise(a.ID, a.Commands) }

func (c *Connection) advertise(id string, commands map[string]bool) {
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
