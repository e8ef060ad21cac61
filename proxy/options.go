package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A Harness is the agent's side of the wire.
type Harness struct {
	In  io.WriteCloser // the agent's stdin
	Out io.Reader      // the agent's stdout
	// Hangup tells the harness that the client has gone. It closes In, and Out ends soon after it. It may be called
	// more than once.
	Hangup func()
}

// A Client is the side that started us.
type Client struct {
	In     io.Reader
	Out    io.Writer
	Stderr io.Writer // for people; a Write must not wait for them
}

// Events is how everything is recorded: in an event file, then in the database. *eventlog.Log is one, and documents the
// methods.
type Events interface {
	Process() string
	Append(...correlation.Event) // never waits
	AppendWait(context.Context, correlation.Event) error
	Flush(context.Context) error
	Row(ctx context.Context, session int) (int64, error)
	Folded(context.Context) error
	Close(context.Context) (left bool, err error)
}

// Ledger is the database of sessions; *correlation.Store is one, and documents the methods. The relay reads it, and
// decides there who may inject (Claim); what happens is written there by Events.
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
	BlockOwner(ctx context.Context, harness, blockID string) (correlation.Session, error)
	IsAlias(ctx context.Context, id string, of correlation.Session, listed []string) (bool, error)
}

// A Backend is what the relay remembers with.
type Backend struct {
	Ledger Ledger
	Memory memory.Source
	// Messages returns what other agents have sent to the session of a key and was not inserted there yet. It must not
	// wait. May be nil.
	Messages func(key string) []memory.Item
	// FoldAll folds in what other processes have recorded, so that memory finds it. May be nil.
	FoldAll func(context.Context)
	// TakeIn does so for a session that is not found, or not found answered: the process that had it may have been
	// killed a moment ago. It relies on no other process. May be nil.
	TakeIn func(context.Context)
	// Parent returns the Signet key of the session whose agent has started this process, "" for none. May be nil.
	Parent func(ctx context.Context, cwd string) string
	// Continued returns the brief (memory.Brief) of the conversation that a session continues; "" if
	// it continues none. The session is named by its row and its agent's own name. May be nil.
	Continued func(ctx context.Context, row int64, agent string) (string, error)
	// ClientGone is called once, when the client has gone or we are told to end, to start a worker that delivers what
	// is owed. It has to be quick, because the process may be killed next. ended: the end of the process is in the
	// ledger; else it is not there yet, or a turn is under way. May be nil.
	ClientGone func(ended bool)
	// SessionClosed is called when the closing of a session is in the ledger: what the session owes is due. May be nil.
	SessionClosed func(context.Context)
	// Questions returns what agents that work for sessions of these keys want to be allowed; Answered takes what the
	// client said to one of them. Both are set where Options.Ask is.
	Questions func(ctx context.Context, keys []string) ([]Question, error)
	Answered  func(ctx context.Context, id string, allowed bool) error
	// Learn is called when turns have ended, to learn from them until its context ends. May be nil.
	Learn func(context.Context)
}

// A Question is a request for permission of an agent that works for one of the sessions.
type Question struct {
	ID    string
	Title string
	Kind  string   // of the tool, as ACP has it
	Paths []string // files that it is about
	Key   string   // of the session that it works for
}

// Options of a relay. A zero duration stands for the default in its comment.
type Options struct {
	Client  Client
	Harness Harness
	Name    string // the name that the harness was started by

	// Events begins to write down events. folded is to be called when they were written into the ledger
	// (eventlog.Options.Folded). If Events is nil, or fails, the relay is a byte pump. The relay closes what it
	// returns.
	Events func(folded func(ended bool, gone []int)) (Events, error)
	Heard  func(...correlation.Event) // is called with the events, and must not wait; nil: nobody listens
	// Open opens the backend, and attaches Events to it. It is called again after sqlite.ErrBusy. It runs
	// beside the conversation, which waits for it no longer than for a prompt's context. If nil, the relay is a byte
	// pump.
	Open func(context.Context) (*Backend, error)

	// Identity reads the local identity files, which need no database; nil: there are none. It may be called by any
	// goroutine.
	Identity func(memory.Session) memory.Context

	HoldLimit  time.Duration                     // a prompt waits no longer for the database and its context; 1.5 s
	FetchLimit time.Duration                     // a fetch may run this long; 15 s
	ContextAge time.Duration                     // the next process may use a stored context for this long; 15 min
	Announce   bool                              // tell the client each session's Signet key
	Notice     bool                              // tell the client what was inserted, if it takes notices
	Exclude    []string                          // globs of folders whose sessions are left alone
	Private    *privacy.File                     // what was marked private in other processes; nil: nothing
	AgentID    string                            // the Signet agent; "" is the daemon's default
	Project    func(cwd string) string           // the project of a folder; nil: memory.Project
	Traits     func(agent string) session.Traits // what is known of a harness, by its agentInfo.name; nil: nothing
	Compat     Compat
	Record     func(session string) string // acpx's record id, of the connection when session is ""; may be nil
	// MCPServer returns the element, as JSON, that is added to a session's mcpServers; nil for none. who returns what
	// is known of the session; it may be called at any time, by any goroutine. release, which may be nil, is called
	// once the session has gone and nobody will use the server any more. If MCPServer is nil, no session gets one.
	MCPServer func(agent string, who func() memory.Session) (server []byte, release func())
	Ask       bool // the client is asked what agents may that work for its sessions
	// Delegation is the one that the harness works for, "" for none: what the client says is then no person's, and Task
	// returns what is to be kept of it.
	Delegation string
	Task       func(prompt string) string
	Now        func() time.Time
	Log        zerolog.Logger
}

const (
	defaultHold    = 1500 * time.Millisecond
	defaultFetch   = 15 * time.Second
	defaultContext = 15 * time.Minute
)

// withDefaults returns a copy in which zero values are replaced by their defaults.
func (o Options) withDefaults() *Options {
	o.HoldLimit = cmp.Or(o.HoldLimit, defaultHold)
	o.FetchLimit = cmp.Or(o.FetchLimit, defaultFetch)
	o.ContextAge = cmp.Or(o.ContextAge, defaultContext)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Heard == nil {
		o.Heard = func(...correlation.Event) {}
	}
	if o.Identity == nil {
		o.Identity = func(memory.Session) memory.Context { return memory.Context{} }
	}
	if o.Task == nil {
		o.Task = func(prompt string) string { return prompt }
	}
	if o.Traits == nil {
		o.Traits = func(string) session.Traits { return session.Traits{} }
	}
	if o.Record == nil {
		o.Record = func(string) string { return "" }
	}
	return &o
}

// Compat is what acpx does for a harness that it recognises by its program's name. acpx does not see that name behind
// the proxy, so the relay does it instead, for acpx only: other clients mean what they send (docs/facts/acpx.md, "A
// load that fails").
type Compat struct {
	ClientInfo json.RawMessage // in place of initialize's clientInfo; nil leaves it
	ClientMeta json.RawMessage // an object whose members go into initialize's clientCapabilities._meta
	// added to session/new's _meta.claudeCode.options if missing there; acpx sends them from 0.11 on
	SettingSources []string

	// Answers are requests of the harness, by method, that acpx answers with {} for this harness and refuses for one
	// that it does not recognise. The refusal is turned into that answer, so that it is still the client that answers,
	// in its place among the client's frames.
	Answers []string
}
