package session

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/answer"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// A Session is what this process knows of an ACP session. The ledger decides what its state is, because two proxies may
// hold one session.
type Session struct {
	Number int // in our events

	exists  existence
	context briefing
	turns   turns
	history history

	known    atomic.Pointer[Known]
	releases []func() // what it was given and nobody will use once it has gone
}

// Known is what the goroutine publishes of a session, for whoever only wants to know.
type Known struct {
	ID   string
	Who  memory.Session
	Mode string // the harness's, as it said last; "" is not known
	Off  bool   // nothing is inserted or recorded
}

// An Opening is a request that opens a session.
type Opening struct {
	Kind   OpeningKind
	Target string // the session's id, or that of a fork's parent; "" for a new one
	Cwd    string
	Off    bool // its _meta switches memory off
	Early  bool // it came before the initialize response said that frames may be edited
}

// OpeningKind is how a session is opened.
type OpeningKind uint8

const (
	opensNone  OpeningKind = iota
	OpensNew               // session/new
	OpensKnown             // session/load, session/resume
	OpensFork              // session/fork
)

// makes reports whether a success makes a session.
func (o Opening) makes() bool { return o.Kind == OpensNew || o.Kind == OpensFork }

// An existence is whether and as what a session exists: for the client and the harness, in the ledger, and in the file
// of events.
type existence struct {
	correlation.Opened // its first event, as it is recorded once the harness has opened it
	live               bool
	opening            bool // the harness has not answered the request that opens it
	silence            silence
	closedBy           string          // the method by which the client has closed it
	mode               string          // the harness's, as it said last; "" is not known
	commands           map[string]bool // that the harness takes in it

	ledger ledger
	row    int64 // in the ledger; 0: it had none when it was asked

	deferred []correlation.Event // to be recorded behind Opened
	recorded bool                // there is an event of it
}

// A silence is how little is done with a session.
type silence uint8

const (
	heard  silence = iota
	off            // nothing is inserted, and nothing recorded but that it is off
	hidden         // likewise, and no event of it is recorded: its project is opted out, or it was forgotten
)

// A ledger is what the ledger has said about a session.
type ledger uint8

const (
	asked   ledger = iota // it has not answered
	overdue               // likewise, and a message of a replay has waited for that: no other does
	known                 // it has
	unknown               // likewise: it does not have it, though the client has opened it by its id
	stale                 // it failed to, or another process has changed the session: the next prompt asks again
	none                  // there is no ledger: the session cannot be claimed in this process
)

// answered reports whether the ledger has answered, or failed to.
func (l ledger) answered() bool { return l > overdue }

// A briefing is what a session is told, and how far that is.
type briefing struct {
	state correlation.State
	held  *Held  // the prompt that waits for its context, or that carries a block and waits for its response
	fetch *Fetch // of what the next prompt is to get
}

// A Fetch is a request for a session's context. Only a prompt waits for it, and a prompt that stops waiting does not
// cancel it: a session-start without its answer costs the key.
type Fetch struct {
	session *Session // a session that continues another takes its fetch over
	key     string   // the Signet key that it was made with
	local   bool     // of the local identity files alone
	keyed   bool     // a session-start may have been sent with the session's key
	patient bool     // the identity is in the system prompt, and no prompt has waited for the memories: one may
	step    fetchStep
	missed  bool // a prompt went without it
	got     memory.Context
	err     error
	stored  json.RawMessage // what it got, as it may be stored; nil: nothing
}

// A fetchStep is how far a fetch is.
type fetchStep uint8

const (
	planned fetchStep = iota // to be begun once the ledger has answered
	fetching
	fetched // got and err are set
	used    // a prompt has carried what it got
)

// Turns follow the wire: they are in the order in which their prompts leave for the harness. What the agent says
// belongs to the oldest turn without a response, or to the last turn if all have one: some agents say more after it.
type turns struct {
	open []*Turn // whose prompts have no response; the first may still be held
	last *Turn   // the last one that was answered
}

// A Turn is one prompt and its answer.
type Turn struct {
	Session *Session
	Number  int          // in our events; 0: it has not begun there
	Answer  *answer.Text // what the agent said and is not recorded: the owner's, and nothing here looks at it

	command string // the slash command that the prompt is; "" for none

	step      turnStep
	taken     time.Time  // when the harness took its prompt up, as far as that can be told; zero: that cannot
	begun     bool       // the harness works on it: it has thought, said or reported something, or has had long enough
	cancelled bool       // the client has asked for its end
	carries   *Injection // what the accepted prompt carries; nil: none
	dropped   bool       // nothing of it is recorded

	prompts    []Prompt // the prompt and what the user said later in the turn, until that is recorded
	promptRead bool
	notices    []byte // the harness's notices, escaped as they came: the answer if there is no other
	tools      []tool
	toolAt     map[string]int // index in tools by the call's id
	message    string         // id of the message that the agent is saying
	toolCalled bool           // since that message began
	lost       int            // bytes that could not be kept
	stop       string         // ACP's stopReason, or one of the Stop constants
}

// A turnStep is how far a turn is.
type turnStep uint8

const (
	turnWaits    turnStep = iota // for its prompt to leave
	turnBegan                    // that has left, or is leaving
	turnAccepted                 // version 2: the harness has accepted the prompt; the turn goes on
	turnEnded
)

// A Prompt is the text of a prompt, or of a steering message, which is read when it is recorded.
type Prompt struct {
	// Words decodes the text, which may take a while. It returns the text without its private passages, and these.
	Words   func() (kept string, private []string)
	Omitted int // bytes that were not kept, for they were too many
	Size    int // bytes that it holds in memory
}

// A tool is a tool call of a turn.
type tool struct {
	report correlation.ToolCall // what was reported since it was last recorded
	began  time.Time
	due    bool // report is to be recorded
}

// How a turn ended, where no stopReason says it.
const (
	StopEnd        = "end_turn"   // ACP's own word for a turn that came to its end
	stopCancelled  = "cancelled"  // likewise, for one that the client has cancelled
	stopError      = "error"      // its response was an error
	stopUnanswered = "unanswered" // a later prompt was answered, and this one was not
)

// A PromptAnswer is the response to a prompt.
type PromptAnswer struct {
	ID       string // the request's, as it came
	Failed   bool
	Code     int // of its error
	Stop     string
	Accepted bool // version 2
	Usage    []Usage
}

// A Usage is what the harness says was used.
type Usage struct {
	correlation.Usage
	Window bool // ContextUsed is of the context window
	OfTurn bool // all requests of the turn took its Input together: there is no better report of the context
}

// A history is what stands in a session's conversation: our blocks, the user's private passages, and what the harness
// shows of it and makes of it.
type history struct {
	blocks     []*Injection // that went in, oldest first; without items, once the harness has lost these
	private    []string     // the <private> parts of the user's prompts, which nothing recorded may repeat
	since      int          // bytes of the newest block and of the user's text since
	replay     replay
	title      string // the harness's, as it came
	named      bool   // the client has given it a title: later ones are not made from a prompt
	compaction compaction
	used       int64 // tokens of the context window, as the harness last reported
}

// A replay is what a harness has shown of its history between the request that opened the session and the first prompt.
type replay struct {
	step   replayStep
	shown  shown
	sought map[string]bool // ids of blocks that were looked up
	deaf   bool            // a look-up took too long: no other begins
}

// A replayStep is how far a replay is.
type replayStep uint8

const (
	replayOver     replayStep = iota // there is none, or no more comes
	replayOpen                       // more may come
	replayAnswered                   // more may come though the response has: some harnesses go on after it
)

// Shown is what a replay has shown of the user's messages; what comes later says more than what is before it.
type shown uint8

const (
	shownNothing shown = iota
	shownWords         // a message
	shownStrange       // with a block that is not of this session's
	shownOurs          // with the newest block that is
)

// A compaction is the one that is under way, which takes our blocks out of the conversation.
type compaction struct {
	id    string // its compactionId, or that of the tool call that stands for it; "" for none
	begun bool   // that it began is recorded
	text  []byte // the harness's summary, while it comes: at most maxSummary
}

// An Injection is a block that is to be inserted, is under way, or was inserted.
type Injection struct {
	correlation.Injection
	Block memory.Block  // set until it is inserted
	Took  time.Duration // the fetch

	fetch     *Fetch            // that it uses up; nil: none
	from      correlation.State // in which the session was
	settled   bool              // its prompt was answered, or will not be
	shown     bool              // the harness has replayed it since the session was last opened
	sentHere  bool              // this connection has sent it
	unclaimed bool              // it left before the ledger could be asked
	borrowed  bool              // another session was given it, as the ledger knows
}

// The kinds of injections, as the ledger stores them.
const (
	KindContext  = "context"  // identity and memories, with a session's first prompt
	kindIdentity = "identity" // the local files only: the rest was not there in time
	KindMemories = "memories" // the rest, with a later prompt
	kindRecall   = "recall"   // what earlier builds found for the text of a later prompt
	KindMessages = "messages" // what other agents have sent, with a later prompt
	KindSystem   = "system"   // the identity alone, in the system prompt
)

// maxLabel is how many bytes of a session's id are logged: ACP does not limit its length.
const maxLabel = 128

// ID is the harness's sessionId. Before the response that names it, it is the one in updates that came earlier, or "".
func (s *Session) ID() string { return s.exists.Open.ACPID }

// off reports whether nothing is inserted into the session, and nothing of it recorded.
func (s *Session) off() bool { return s.exists.silence != heard }

// A Held is a prompt that waits until it is known what goes in front of it.
type Held struct {
	Session *Session
	Read    time.Time // when its frame was: every limit runs from here

	turn   *Turn
	key    string     // of the request
	line   []byte     // the frame as the client sent it; nil once it has left
	blocks frame.Span // in line: the prompt's

	ctx       context.Context      // of its wait, claim included; the client's cancel ends it, too
	cancel    context.CancelFunc   // ends ctx
	cancelled bool                 // by the client
	beaten    bool                 // another proxy has claimed its session
	gone      bool                 // it has left
	lost      correlation.StepName // Compacted or Cleared while its block is in flight, to be applied then

	claiming bool  // the ledger is asked
	refusal  error // its answer

	Words string    // memory is searched for them
	Until time.Time // so long it waits for that; zero: there is no search

	// What comes from beside (Beside), by the goroutine; nil: that has not come.

	Found     *memory.Context // what memory has found for its words
	Files     *memory.Context // the local identity files
	Continued *string         // how the conversation ended that its session continues; "" if it continues none
}
