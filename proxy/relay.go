// Package proxy is the relay between an ACP client and a harness.
//
// Two pumps carry frames, one each way; every byte that is not meant to
// change arrives unchanged and in order. A few methods are watched, and of
// these a handful of frames are edited by splicing: the first prompt of a
// session gets one text block in front, the four requests that carry
// mcpServers get one server, and replayed copies of our block are cut out.
//
// The relay answers nothing itself, adds no time-out to anything that the
// client asked for and renumbers no id. It does not start or end the
// harness (package upstream), does not know where context comes from
// (package memory) and does not know how sessions are stored (package
// correlation): it uses these through the interfaces declared here.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
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

// Ledger is the durable record of sessions; *correlation.Store is one.
type Ledger interface {
	Open(context.Context, correlation.OpenSession) (correlation.Session, error)
	Find(ctx context.Context, harness, acpID string) (correlation.Session, error)
	FindByRecord(ctx context.Context, record string) (correlation.Session, error)
	Claim(ctx context.Context, id int64, from []correlation.State, process string, in correlation.Injection) (int64, error)
	Settle(ctx context.Context, id int64, process string, to correlation.State) error
	SetState(ctx context.Context, id int64, from []correlation.State, to correlation.State) error
	SetRecord(ctx context.Context, id int64, record string) error
	Rekey(ctx context.Context, id int64, key string) error
	StartKey(ctx context.Context, key string) error
	SaveContext(ctx context.Context, id int64, key string, payload []byte, at time.Time) error
	TakeContext(ctx context.Context, id int64, maxAge time.Duration) (payload []byte, key string, err error)
	Injections(ctx context.Context, id int64) ([]correlation.Injection, error)
	Record(context.Context, correlation.Injection) (int64, error)
	SaveTurns(ctx context.Context, turns []correlation.Turn) error
	FirstPrompt(ctx context.Context, id int64) (string, error)
}

// Memory says what an agent should be told; *memory.Auto is one.
type Memory interface {
	memory.Source
	// Identity is what can be said without asking anyone: the local identity files.
	Identity(memory.Session) memory.Context
}

// A Backend is what the relay remembers with.
type Backend struct {
	Ledger  Ledger
	Memory  Memory
	Process string // names this process in the ledger
	// Parent gives the Signet key of the session that the sessions of this process work for, "" for none. May be nil.
	Parent func(ctx context.Context, cwd string) string
	// Leave marks that this process is done with a session, for the client has closed it.
	Leave func(ctx context.Context, row int64, reason string) error
	// HandOver is told when the client has gone, or we are told to end: what is owed has to find somebody to deliver it, and soon, for what comes is
	// to be killed. ended says that the end is marked; else a turn is still under way. May be nil.
	HandOver func(ended bool)
	// Summarised is given the harness's own summary of a session that it has compacted. May be nil.
	Summarised func(ctx context.Context, row int64, summary string) error
	// Learn is told when turns have ended; End marks the end of the process. Either may be nil.
	Learn func(context.Context)
	End   func(context.Context) error
}

// Options of a relay. Zero durations have the defaults that are named.
type Options struct {
	Client  Client
	Harness Harness
	Name    string // what the harness was started as

	// Open gives the backend. It runs beside the conversation, which never
	// waits for it longer than for a prompt's context. If nil, the relay is a byte pump.
	Open func(context.Context) (*Backend, error)

	HoldLimit   time.Duration                // a prompt waits no longer than this for its context; 1.5 s
	ClaimLimit  time.Duration                // and no longer than this for the database, inside its hold; 100 ms
	LookLimit   time.Duration                // what the harness shows waits no longer than this for the database; 250 ms
	FetchLimit  time.Duration                // a fetch may run this long; 15 s
	ContextAge  time.Duration                // an unused context is good for the next process this long; 15 min
	PerPrompt   bool                         // recall for later prompts too
	Announce    bool                         // the client is told each session's Signet key
	Reinject    Reinject                     // what goes in again after the harness forgot
	SlashPrefix []string                     // what a command starts with; "/"
	Exclude     []string                     // globs of folders that are left alone
	AgentID     string                       // the Signet agent; "" is the daemon's default
	ToolHint    func(agent string) bool      // whether the block names the memory tool; nil is no
	KeepsFailed func(agent string) bool      // whether a harness keeps a failed prompt; nil is no
	Placement   func(agent string) Placement // where a harness gets the identity; nil is the first prompt
	Customs     Customs
	Record      func(session string) string // acpx's record id, of the connection when session is ""; may be nil
	// MCPServer gives the mcpServers element, as JSON, that a session with a harness is to get; nil for none. who says what is known of the session,
	// at any time and to any goroutine. If MCPServer is nil, no session gets one.
	MCPServer func(agent string, who func() memory.Session) []byte
	Now       func() time.Time
	Log       zerolog.Logger
}

const (
	defaultHold    = 1500 * time.Millisecond
	defaultFetch   = 15 * time.Second
	defaultContext = 15 * time.Minute
	defaultClaim   = 100 * time.Millisecond
	defaultLook    = 250 * time.Millisecond
	aliasWindow    = 5 * time.Second // a new session this soon after a failed load continues it
)

// A Relay is one connection between a client and a harness.
type Relay struct {
	o       Options
	journal *journal
	editing atomic.Bool // the initialize response has named a version that we know

	era atomic.Uint64 // counts what may change the verdict about a message chunk

	ctx    context.Context // ends with the relay; fetches run under it
	cancel context.CancelFunc
	tasks  *tasks // fetches and look-ups

	mu          sync.Mutex // guards what follows
	asked       map[string]request
	questions   map[string]bool // of the harness, whose refusal is to become {}
	takesSystem bool            // the harness advertises that it takes a system prompt
	sessions    map[string]*session
	agent       party
	client      party
	births      []*session // being made: their ids are not known yet
	requests    int        // watched so far
	failed      *failedLoad
	strays      int  // lines of the harness that were no frames
	unsaved     int  // bytes of turns that the ledger does not have whole
	lost        int  // bytes that were not kept, for there was no room
	gone        bool // the client has ended the connection
}

// A party is one end's name for itself.
type party struct{ name, version string }

// New prepares a relay and begins to open its backend; Run must follow.
func New(o Options) *Relay {
	if o.HoldLimit == 0 {
		o.HoldLimit = defaultHold
	}
	if o.ClaimLimit == 0 {
		o.ClaimLimit = defaultClaim
	}
	if o.LookLimit == 0 {
		o.LookLimit = defaultLook
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
		o.Reinject = ReinjectIdentity
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Record == nil {
		o.Record = func(string) string { return "" }
	}
	r := &Relay{o: o, asked: map[string]request{}, questions: map[string]bool{}, sessions: map[string]*session{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.tasks = &tasks{ctx: r.ctx}
	if o.Open != nil {
		r.journal = startJournal(r)
	}
	return r
}

// Run relays until the harness's output ends. It returns what broke the
// connection, nil if both sides simply ended.
//
// The goroutine that reads from the client may outlive Run when the harness
// ends first, for a read from a pipe cannot be interrupted: the caller exits
// then, or closes the client's end.
func (r *Relay) Run() error {
	defer r.cancel()
	if r.o.Open == nil {
		return r.run(r.copyUp, func() error { return copyBytes(r.o.Client.Out, r.o.Harness.Out) })
	}
	u := newUp(r)
	err := r.run(u.run, func() error { return pump(r.o.Harness.Out, newDown(r)) })
	r.cancel()
	r.tasks.end()
	r.journal.close()
	if r.strays > 0 || r.lost > 0 {
		r.o.Log.Warn().Int("strays", r.strays).Int("lost", r.lost).Msg("lines of the harness that were no frames; bytes of turns that were not kept")
	}
	return err
}

// run drives both directions and returns when the harness's output has ended.
func (r *Relay) run(up, down func() error) error {
	upward := make(chan error, 1)
	go func() {
		err := up()
		r.clientGone()
		upward <- err
	}()
	err := down()
	if err != nil { // the client does not read any more: it has gone, but the harness may have more to write
		r.clientGone()
		_, _ = io.Copy(io.Discard, r.o.Harness.Out)
		if errors.Is(err, errNoReader) {
			err = nil
		}
	}
	select {
	case upErr := <-upward:
		if err == nil && upErr != nil {
			err = fmt.Errorf("reading from the client: %w", upErr)
		}
	default:
	}
	return err
}

// clientGone ends the harness and brings everything to disk: acpx leaves
// about 150 ms from here on (facts/acpx.md, section 2).
func (r *Relay) clientGone() {
	r.mu.Lock()
	r.gone = true
	r.mu.Unlock()
	r.o.Harness.Hangup()
	if r.journal != nil {
		r.journal.flush(false)
	}
}

// Flush brings everything that was said to disk, and marks the end of the
// process there: for when we are told to end, and may be killed at any moment.
func (r *Relay) Flush() {
	if r.journal != nil {
		r.journal.flush(true)
	}
}

// ClientGone reports whether the client ended the connection, rather than the harness.
func (r *Relay) ClientGone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}

// errNoReader says that the end that we write to has gone.
var errNoReader = errors.New("nobody reads any more")

// copyUp is the byte pump from the client. As with frames, a harness that
// does not read any more is the other pump's to report, and the client may go on writing.
func (r *Relay) copyUp() error {
	err := copyBytes(r.o.Harness.In, r.o.Client.In)
	if errors.Is(err, errNoReader) {
		_, _ = io.Copy(io.Discard, r.o.Client.In)
		return nil
	}
	return err
}

// copyBytes is the byte pump: no frames, no decisions.
func copyBytes(dst io.Writer, src io.Reader) error {
	buf := make([]byte, bufferSize)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			if _, werr := dst.Write(buf[:n]); werr != nil {
				return errNoReader
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// tell tells a person something on stderr, one line.
func (r *Relay) tell(format string, args ...any) {
	fmt.Fprintf(r.o.Client.Talk, "signet-acp-proxy: "+format+"\n", args...)
}
