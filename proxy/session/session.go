package session

import (
	"encoding/json"
	"errors"
	"time"
	"unique"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/answer"
)

// A Session is what this process knows of an ACP session. The table's lock
// guards it. Its truth is in the ledger: two proxies may hold one session.
type Session struct {
	ID          string // the harness's sessionId; empty until its response names it
	Who         memory.Session
	Open        correlation.OpenSession // how the ledger is to know it
	Row         int64                   // the ledger's, if it knew the session before
	Number      int                     // in the file of events
	Ready       chan struct{}           // closed once the ledger has been asked about it
	Unsure      bool                    // the ledger has to be asked again
	Awaited     bool                    // what the harness shows has waited for the ledger
	Predecessor int64                   // the ledger's row of a session whose unused context is this one's

	Live   bool // the harness has it: its response said so
	Off    bool // no context goes in, no turn is kept
	Hidden bool // its project is opted out: off, and the ledger never hears of it

	early    string // its id, as updates have it that come before the response
	commands map[string]bool
	said     int    // bytes of what the user has said since the newest block, that included
	used     int64  // tokens of its window, as the harness last said
	named    bool   // the client has given it a title
	compacts string // the tool call that tells of a compaction under way
	changed  bool   // among the connection's changed ones

	state       correlation.State
	stranger    bool // the client has opened it by an id that the ledger does not know
	unclaimable bool // there is no ledger, and will be none
	// Compacted or Cleared, while context was in flight: it counts once that has settled
	lost   correlation.EventName
	sent   bool // a prompt of this connection is under way that carries context
	held   int  // prompts that wait for their context
	claims int  // prompts of this process that carried any
	replay replay

	fetch  *Fetch // what the next prompt is to get; nil when nothing was asked for
	wants  need   // what is to be fetched
	keyed  bool   // something may have been asked for under its key
	placed bool   // the identity is in its system prompt, and no prompt has waited for the memories yet

	given  []*Injection // what went in, oldest first
	seen   []string     // ids of the items in it, the texts of those that have none
	secret []string     // the <private> parts of the user's prompts, which no turn may repeat

	// whose prompts wait for their responses, in the order in which they leave; the first may not have left yet
	unanswered []*Turn
	last       *Turn // of those that were answered
	summary    summary
	title      string // what the harness calls it, as it came

	opened bool             // it stands in the file of events
	before []eventlog.Event // what has happened before it did
	told   int              // events that stand there
	folded int              // of these, how many the ledger has for sure
	served []func()         // each releases what its memory tools hold
	parent *Session         // that it was forked from
	failed *Session         // whose load has failed, and that it continues
}

// Settled reports whether the ledger has been asked about the session.
func (s *Session) Settled() bool {
	select {
	case <-s.Ready:
		return true
	default:
		return false
	}
}

// Label is the session's id as logs have it: nothing says that a harness may not send one of a megabyte.
func (s *Session) Label() string { return s.ID[:min(len(s.ID), maxLabel)] }

// Wants reports whether a plain prompt of this session has to be held: it
// may get context, or the ledger has not said yet. A second one beside one that
// carries context, or may, never is; what is in flight otherwise is another proxy's, and may have come back.
func (s *Session) Wants(perPrompt bool) bool {
	if s.Off || s.unclaimable || s.sent || s.held > 0 {
		return false
	}
	if !s.Settled() || s.Unsure {
		return true
	}
	switch s.state {
	case correlation.Armed, correlation.IdentityGiven, correlation.Doubt, correlation.InFlight:
		return true
	}
	return perPrompt && len(s.unanswered) == 0
}

// Hold notes a prompt that waits for its context; Release that it does so no more.
func (s *Session) Hold() { s.held++ }

// Release ends what Hold began.
func (s *Session) Release() { s.held-- }

// isThere notes that the harness has a session.
func (s *Session) isThere() { s.Live = true }

// OrNewKey gives key, or a new one if there is none.
func OrNewKey(key string) string {
	if key == "" {
		return correlation.NewKey()
	}
	return key
}

// A Turn is one prompt and what was said to it. Turns follow the wire: they stand in the order in which their prompts
// leave for the harness, and words belong to the oldest one that has no response yet, behind the last response to the
// last one, for some agents say more then.
type Turn struct {
	Session *Session
	Number  int // in the file of events, once it stands there
	Key     string
	Trace   string      // the span that the client sent it in; "" for none
	Command string      // the slash command that the prompt is
	Answer  answer.Text // what the agent said and nobody has taken yet; has a lock of its own

	left     bool // its prompt is on its way
	accepted bool // the harness has taken it in, which ends no turn in version 2
	dropped  bool // nothing of it is kept

	prompt  Prompt   // what the user said, until it is written down
	heard   bool     // that is known, or was
	steered []Prompt // and what the user said later, in the turn
	notices []byte   // what the harness said of itself, as it came: the answer if there is no other
	tools   []tool
	toolAt  map[string]int
	message string // the id of the one that the words are of
	called  bool   // a tool, since it began
	lost    int    // bytes that were not kept

	stop  string
	ended bool

	listed bool // among those of which something is to be written down
}

// A Prompt is what the user says.
type Prompt interface {
	// Words reads it, which may take a while: without the passages that are private, and those.
	Words() (kept string, private []string)
	Left() int // bytes of it that were left out
	Size() int // bytes of it that are held
}

// A tool is a tool call of a turn.
type tool struct {
	correlation.ToolCall
	began   time.Time
	changed bool // since it was last written down
}

// Stops that are no harness's.
const (
	StopEnd        = "end_turn"   // a turn that came to its end, in the protocol's words
	StopError      = "error"      // its response was an error
	StopUnanswered = "unanswered" // a later prompt was answered, and this one was not
)

// A Fetch is a session's context on its way. Nobody waits for it but a
// prompt, and no prompt ends it: an abandoned session-start costs its key.
type Fetch struct {
	Done chan struct{} // closed when Got and Err stand
	Got  memory.Context
	Err  error

	// The table's lock guards these.
	Session *Session // whose it is; a session that continues another one takes its fetch over
	Key     string   // asked for under it
	used    bool     // a prompt carries it, or has
	missed  bool     // a prompt has found that it failed
	stored  json.RawMessage
}

// Finished reports whether the fetch has ended.
func (f *Fetch) Finished() bool {
	select {
	case <-f.Done:
		return true
	default:
		return false
	}
}

// spent gives a fetch whose context is in the conversation without it: it is not needed again, and a session may be
// idle for days.
func (f *Fetch) spent() *Fetch {
	return &Fetch{Done: f.Done, Err: f.Err, Session: f.Session, Key: f.Key, used: f.used, missed: f.missed}
}

// MayCome reports whether asking again may give what a fetch has not: its source was not there.
func (f *Fetch) MayCome() bool { return f.Finished() && errors.Is(f.Err, memory.ErrUnavailable) }

// Missed notes that a prompt went without what a fetch was for, because its source was not there: the next one asks
// again.
func (f *Fetch) Missed() { f.missed = true }

// A need is what is to be fetched for a session.
type need uint8

const (
	everything    need = iota
	identityAlone      // the local files
)

// An Injection is a block that is to go in, is under way, or has gone in.
type Injection struct {
	correlation.Injection
	Block memory.Block  // as it goes in; only of one that is to
	Took  time.Duration // to fetch it
	Fetch *Fetch        // that it comes from, if that is all used by it
	From  correlation.State

	pieces  []unique.Handle[string] // of its text, in place of that, while the session is idle
	settled bool                    // its prompt was answered, or taken for one that is never
	shown   bool                    // the harness has shown it since the session was last opened
	here    bool                    // this connection has sent it
}

// replay is what a harness has shown of its history since the session was
// opened and until the first prompt.
type replay struct {
	open   bool // it may still come
	whole  bool // the response that ends it has come, though some harnesses go on
	user   bool // a user's turn was shown
	marked bool // the block that counts was in it
}

// A summary is a harness's own of a conversation that it is compacting.
type summary struct {
	compaction string // its compactionId
	begun      bool   // it was noted that the harness has begun it
	text       []byte // at most maxSummary
}
