package proxy

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A Harness is the agent's side of the wire.
type Harness struct {
	In  io.WriteCloser // the agent's stdin
	Out io.Reader      // the agent's stdout
	// Hangup tells the harness that the client has gone. It closes In and
	// bounds the time until Out ends.
	Hangup func()
}

// A Client is the side that started us.
type Client struct {
	In   io.Reader
	Out  io.Writer
	Talk io.Writer // people, usually stderr
}

// Events are the file in which everything is written down at once, and which is folded into the ledger when that is
// possible; *eventlog.Log is one.
type Events interface {
	session.Events
	Process() string
	AppendWait(context.Context, eventlog.Event) error
	Flush(context.Context) error
	Row(ctx context.Context, session int) (int64, error)
	Folded(context.Context) error
	Stuck() bool
	Close(context.Context) (left bool, err error)
	Discard() error
}

// Ledger is the durable record of sessions; *correlation.Store is one. What happens comes there from the file of
// events; it is asked for what it knows, and who may inject is decided there.
type Ledger interface {
	Find(ctx context.Context, harness, acpID string) (correlation.Session, error)
	FindByRecord(ctx context.Context, record string) (correlation.Session, error)
	State(ctx context.Context, id int64) (correlation.State, error)
	Claim(
		ctx context.Context, id int64, from []correlation.State, process string, in correlation.Injection,
	) (int64, error)
	SetRecord(ctx context.Context, id int64, record string) error
	TakeContext(ctx context.Context, id int64, maxAge time.Duration) (payload []byte, key string, err error)
	Injections(ctx context.Context, id int64) ([]correlation.Injection, error)
	FirstPrompt(ctx context.Context, id int64) (string, error)
	SetTitle(ctx context.Context, id int64, blockID, hash string) error
}

// Memory says what an agent should be told; *memory.Auto is one.
type Memory interface {
	memory.Source
	// Identity is what can be said without asking anyone: the local identity files.
	Identity(memory.Session) memory.Context
}

// A Backend is what the relay remembers with.
type Backend struct {
	Ledger Ledger
	Memory Memory
	// Messages gives what other agents have sent to the session of a key and it was not told yet. It waits for nothing.
	// May be nil.
	Messages func(key string) []memory.Item
	// CatchUp takes in what other processes have written down and nobody has taken in yet, so that it is found. May
	// be nil.
	CatchUp func(context.Context)
	// Parent gives the Signet key of the session that the sessions of this process work for, "" for none. May be nil.
	Parent func(ctx context.Context, cwd string) string
	// Earlier tells, as memory.Earlier does, how the conversation ended that a session, by its row and its agent's own
	// name, goes on from; "" where there is none. May be nil.
	Earlier func(ctx context.Context, row int64, agent string) (string, error)
	// HandOver is told when the client has gone, or we are told to end: what is owed has to find somebody to deliver
	// it, and soon, for what comes is to be killed. ended says that the end is marked; else a turn is still under
	// way. May be nil.
	HandOver func(ended bool)
	// Left is told when the ledger has that the client closed a session: what it owes is due. May be nil.
	Left func(context.Context)
	// Learn is told when turns have ended. May be nil.
	Learn func(context.Context)
}

// Options of a relay. Zero durations have the defaults that are named.
type Options struct {
	Client  Client
	Harness Harness
	Name    string // what the harness was started as

	// Events begins the file in which everything is written down. folded is to be called when something of it has
	// come into the ledger (eventlog.Options). If nil, or if it fails, nothing is remembered. The relay closes it.
	Events func(folded func(ended bool, gone []int)) (Events, error)
	// Open gives the backend, and lets the file of events be folded into it. It is called again where it gives
	// sqlite.ErrBusy. It runs beside the conversation, which never waits for it longer than for a prompt's context.
	// If nil, the relay is a byte pump.
	Open func(context.Context) (*Backend, error)

	HoldLimit  time.Duration // a prompt waits no longer than this for its context; 1.5 s
	ClaimLimit time.Duration // and no longer than this for the database, inside its hold; 100 ms
	// what the harness shows waits no longer than this for the database; 250 ms
	LookLimit   time.Duration
	FetchLimit  time.Duration                     // a fetch may run this long; 15 s
	ContextAge  time.Duration                     // an unused context is good for the next process this long; 15 min
	PerPrompt   bool                              // recall for later prompts too
	Announce    bool                              // the client is told each session's Signet key
	Notice      bool                              // and what the first prompt got, where it takes notices
	Reinject    session.Reinject                  // what goes in again after the harness forgot
	SlashPrefix []string                          // what a command starts with; "/"
	Exclude     []string                          // globs of folders that are left alone
	AgentID     string                            // the Signet agent; "" is the daemon's default
	Project     func(cwd string) string           // the project of a folder; nil: memory.Project
	ToolHint    func(agent string) bool           // whether the block names the memory tool; nil is no
	Traits      func(agent string) session.Traits // what is known of a harness; nil is nothing
	Placement   func(agent string) Placement      // where a harness gets the identity; nil is the first prompt
	Compat      Compat
	Record      func(session string) string // acpx's record id, of the connection when session is ""; may be nil
	// MCPServer gives the mcpServers element, as JSON, that a session with a harness is to get; nil for none. who
	// says what is known of the session, at any time and to any goroutine. release, which may be nil, is called once
	// the session has gone: nobody will come to the server any more. If MCPServer is nil, no session gets one.
	MCPServer func(agent string, who func() memory.Session) (server []byte, release func())
	Now       func() time.Time
	Log       zerolog.Logger
}

// DefaultLook is the LookLimit of options that name none.
const DefaultLook = 250 * time.Millisecond

const (
	defaultHold    = 1500 * time.Millisecond
	defaultFetch   = 15 * time.Second
	defaultContext = 15 * time.Minute
	defaultClaim   = 100 * time.Millisecond
)

// withDefaults fills in what is zero.
func (o Options) withDefaults() *Options {
	if o.HoldLimit == 0 {
		o.HoldLimit = defaultHold
	}
	if o.ClaimLimit == 0 {
		o.ClaimLimit = defaultClaim
	}
	if o.LookLimit == 0 {
		o.LookLimit = DefaultLook
	}
	if o.FetchLimit == 0 {
		o.FetchLimit = defaultFetch
	}
	if o.ContextAge == 0 {
		o.ContextAge = defaultContext
	}
	if o.SlashPrefix == nil {
		o.SlashPrefix = []string{"/"}
	}
	if o.Reinject == "" {
		o.Reinject = session.ReinjectIdentity
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Record == nil {
		o.Record = func(string) string { return "" }
	}
	return &o
}

// A Placement says where a harness that takes a system prompt from its
// client gets the identity. The zero value is the first prompt, with everything else.
type Placement struct {
	System bool // the system prompt of session/new, where the harness advertises that it takes one
	// Meta: it reads _meta.systemPrompt too, but not beside systemPrompt
	// (claude; docs/facts/harnesses.md). Of other harnesses a client that sends the former gets the prompt way.
	Meta bool
}

// Compat is what acpx does for a harness that it knows by its program's
// name. Behind us it does not see that name, so that it is ours to do, on
// the wire and for acpx only: other clients mean what they send (docs/facts/acpx.md, "A load that fails").
type Compat struct {
	ClientInfo json.RawMessage // in place of initialize's clientInfo; nil leaves it
	ClientMeta json.RawMessage // an object whose members go into initialize's clientCapabilities._meta
	// of session/new's _meta.claudeCode.options, where there are none; not sent by acpx before 0.11
	SettingSources []string

	// Answers are the harness's requests that acpx answers with {}, and that it
	// refuses where it does not know the harness: its refusal is turned into
	// that answer. So the client has still answered, in its place among its frames, and we have made up nothing.
	Answers []string
}
