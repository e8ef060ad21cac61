package session

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/answer"
)

// A Session is what this process knows of an ACP session. The table's lock guards it. The ledger decides what its state
// is, because two proxies may hold one session.
type Session struct {
	ID           string // the harness's sessionId; empty until its response names it
	Who          memory.Session
	Open         correlation.OpenSession // what the event that it was opened says
	Row          int64                   // in the ledger; 0: it had none when it was asked
	Number       int                     // in the file of events
	Ready        chan struct{}           // closed once the ledger has answered about it, or failed to
	Stale        bool                    // the next prompt has to ask the ledger again
	ReplayWaited bool                    // a replayed message has waited for the ledger once
	Mode         string                  // the harness's, as it said last; "" is not known
	Predecessor  int64                   // the row of a session whose stored context this one may use; 0: none

	Live   bool // the harness has opened it
	Off    bool // nothing is inserted or recorded
	Hidden bool // its project is opted out, or it was forgotten: off, and no event of it is recorded

	early          string // the id in updates that came before the response
	commands       map[string]bool
	textSinceBlock int    // bytes of the newest block and of the user's text since
	contextUsed    int64  // tokens, as the harness last reported
	titledByClient bool   // the client has given it a title
	compacts       string // id of the tool call that is a compaction under way (CompactTool)
	changed        bool   // in the connection's list of these

	state       correlation.State
	unknown     bool // the client opened it by an id that the ledger does not have
	unclaimable bool // there is no ledger, and will be none
	// Compacted or Cleared while a block was in flight: applied once that has settled
	lost   correlation.EventName
	sent   bool // a prompt of this connection with a block waits for its response
	held   int  // prompts that are held for their context
	claims int  // prompts of this process that carried a block
	replay replay

	fetch   *Fetch // of what the next prompt is to get; nil: none was begun
	fetches need   // what the next fetch is to get
	keyed   bool   // a session-start may have been sent with its key
	placed  bool   // the identity is in its system prompt, and no prompt has waited for the memories

	injections []*Injection // oldest first
	seenItems  []string     // ids of the items in them, or texts of those without
	private    []string     // the <private> parts of the user's prompts, which no turn may repeat

	// turns whose prompts have no response, in the order of the prompts; the first may still be held
	unanswered []*Turn
	last       *Turn // the last one that was answered
	summary    summary
	title      string // the harness's, as it came

	opened   bool             // its Opened event is in the file of events
	deferred []eventlog.Event // events to append behind Opened
	recorded int              // events of it that were appended
	folded   int              // of these, how many the ledger is known to have
	releases []func()         // to be called once it has gone (OnRelease)
	parent   *Session         // that it was forked from
	failed   *Session         // that it continues, because its load failed
}

// LookedUp reports whether the ledger has answered about the session, or failed to.
func (s *Session) LookedUp() bool {
	select {
	case <-s.Ready:
		return true
	default:
		return false
	}
}

// Label is the session's id as it is logged, at most maxLabel bytes of it.
func (s *Session) Label() string { return s.ID[:min(len(s.ID), maxLabel)] }

// MustHold reports whether a plain prompt of this session has to be held, because it may get a block or the ledger has
// not answered. While another prompt of this connection is held or carries a block, none is. A session that is in
// flight in another proxy is held for: that may have ended. perPrompt: recall or messages may be inserted into any
// prompt.
func (s *Session) MustHold(perPrompt bool) bool {
	if s.Off || s.unclaimable || s.sent || s.held > 0 {
		return false
	}
	if !s.LookedUp() || s.Stale {
		return true
	}
	switch s.state {
	case correlation.Armed, correlation.IdentityGiven, correlation.Doubt, correlation.InFlight:
		return true
	}
	return perPrompt && len(s.unanswered) == 0
}

// Hold notes that a prompt is held for its context. Release must follow.
func (s *Session) Hold() { s.held++ }

// Release ends what Hold began.
func (s *Session) Release() { s.held-- }

// OrNewKey returns key, or a new one if key is empty.
func OrNewKey(key string) string {
	if key == "" {
		return correlation.NewKey()
	}
	return key
}

// A Turn is one prompt and its answer. Turns follow the wire: they are in the order in which their prompts leave for
// the harness. What the agent says belongs to the oldest turn without a response, or to the last turn if all have one:
// some agents say more after it.
type Turn struct {
	Session *Session
	Number  int // in the file of events; 0: it has not begun there
	Key     string
	Trace   string      // the client's traceparent; "" for none
	Command string      // the slash command that the prompt is; "" for none
	Answer  answer.Text // what the agent said and is not recorded; it has a lock of its own

	forwarded bool // its prompt has left, or is leaving
	begun     bool // the harness has thought something of it
	cancelled bool // the client has asked for its end
	accepted  bool // version 2: the harness has accepted the prompt; the turn goes on
	dropped   bool // nothing of it is recorded

	prompt     Prompt   // nil before PromptRead, and once it is recorded
	promptRead bool     // prompt was set
	steered    []Prompt // what the user said later in the turn
	notices    []byte   // the harness's notices, escaped as they came: the answer if there is no other
	tools      []tool
	toolAt     map[string]int // index in tools by the call's id
	messageID  string         // of the message that the agent is saying
	toolCalled bool           // since that message began
	lost       int            // bytes that could not be kept

	stop  string // ACP's stopReason, or one of the Stop constants
	ended bool

	due bool // in the connection's list of these
}

// A Prompt is the text of a prompt, or of a steering message, which is read when it is recorded.
type Prompt interface {
	// Words decodes the text, which may take a while. It returns the text without its private passages, and these.
	Words() (kept string, private []string)
	Omitted() int // bytes that were not kept, for they were too many
	Size() int    // bytes that it holds in memory
	Release()     // it is not used any more
}

// A tool is a tool call of a turn.
type tool struct {
	correlation.ToolCall
	began   time.Time
	changed bool // since it was last recorded
}

// How a turn ended, where no stopReason says it.
const (
	StopEnd        = "end_turn"   // ACP's own word for a turn that came to its end
	StopCancelled  = "cancelled"  // likewise, for one that the client has cancelled
	StopError      = "error"      // its response was an error
	StopUnanswered = "unanswered" // a later prompt was answered, and this one was not
)

// A Fetch is a request for a session's context. Only a prompt waits for it, and a prompt that stops waiting does not
// cancel it: a session-start without its answer costs the key.
type Fetch struct {
	Done chan struct{} // closed once Got and Err are set
	Got  memory.Context
	Err  error

	// The table's lock guards these.
	Session *Session        // a session that continues another takes its fetch over
	Key     string          // the Signet key that it was made with
	used    bool            // a prompt has carried what it got
	missed  bool            // a prompt went without it, because it failed
	stored  json.RawMessage // what it got, as it may be stored; nil: nothing
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

// withoutContext returns a copy of the fetch without what it got. That is in the conversation and not needed again, and
// a session may be idle for days.
func (f *Fetch) withoutContext() *Fetch {
	return &Fetch{Done: f.Done, Err: f.Err, Session: f.Session, Key: f.Key, used: f.used, missed: f.missed}
}

// Retryable reports whether a fetch has failed because its source was not there: another may succeed.
func (f *Fetch) Retryable() bool { return f.Finished() && errors.Is(f.Err, memory.ErrUnavailable) }

// Missed notes that a prompt went without the context because the source was not there: the next prompt fetches again.
func (f *Fetch) Missed() { f.missed = true }

// A need is what a fetch is to get for a session.
type need uint8

const (
	everything    need = iota
	identityAlone      // the local files
)

// An Injection is a block that is to be inserted, is under way, or was inserted.
type Injection struct {
	correlation.Injection
	Block memory.Block      // set until it is inserted
	Took  time.Duration     // the fetch
	Fetch *Fetch            // that it uses up; nil: none
	From  correlation.State // in which the session was

	settled  bool // its prompt was answered, or will not be
	shown    bool // the harness has replayed it since the session was last opened
	sentHere bool // this connection has sent it
}

// replay is what a harness has shown of its history between the request that opened the session and the first prompt.
type replay struct {
	open   bool // more may come
	whole  bool // the response that ends it has come; some harnesses go on after it
	user   bool // a user message was shown
	marked bool // with the newest block in it
}

// A summary is the harness's own summary of a conversation that it is compacting, while it comes.
type summary struct {
	compaction string // its compactionId
	begun      bool   // that it began is recorded
	text       []byte // at most maxSummary
}
