package session

import (
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

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
	Record  []correlation.Event // in this order
	Ended   correlation.Event   // like Record, and has to be in the file before the frame is forwarded; nil: nothing
	Say     []byte              // becomes Turn's answer, if there is no other; escaped as it came
	Due     Due                 // to be redacted
	Private []string            // passages that nothing recorded may repeat
	Soon    bool                // there is something to record: soon,
	Later   bool                // within a while,
	Full    bool                // at once
	Closed  bool                // that sessions were closed is recorded

	// Beside the conversation.
	Lookups []*Lookup  // to ask of the ledger
	Seek    *Seek      // a block to look up, before the frame is forwarded
	Orphan  bool       // the session's parent is to be looked for
	Rows    []int64    // of sessions whose stored contexts would be of use
	Behind  int        // the ledger has to have so many of all events that were recorded
	Fetches []FetchJob // to ask of memory
	Recall  *RecallJob // likewise
	Held    *Held      // the prompt that is held from now on
	Prompt  Step       // what a held prompt needs
	Gone    []*Session // which nobody will use any more
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
	forward Frame = iota // as it is
	Look                 // forward it, and look at it then
	Hold                 // keep it until it is whole
)

// A Lookup asks the ledger about a session: what it has of it or of its parent, or which session a new one continues.
// Whoever asks comes back with Found and then with LookedUp.
type Lookup struct {
	Session *Session
	Kind    OpeningKind
	Harness string
	ID      string     // of the session that the ledger is asked for; "" for a new one
	Cwd     string     // of a new one
	Row     int64      // for a new one: of the session whose load has failed; 0: none
	Had     bool       // the ledger had it before
	First   []*Session // the ledger has to have all that was recorded of these

	of       *Session          // that the ledger is asked about: Session, or the parent of a fork
	then     correlation.State // of that, as its fork was requested
	claimed  bool              // prompts have carried blocks since, which are not in the fork's history
	failed   *Session
	after    []*Session // the ledger answers about these first
	begun    bool
	outdated bool // the client has opened the session again since
}

// Due is what is to be recorded, in the order in which it came up.
type Due struct {
	Turns     []DueTurn
	Titles    []Told
	Summaries []Told
}

// DueTurn is what is to be recorded of a turn.
type DueTurn struct {
	Turn    *Turn
	Number  int
	Prompts []Prompt // the prompt, and what the user said later in the turn
	Tools   []correlation.ToolCall
	Ended   bool
	Off     bool // nothing of it is to be recorded
	Project string
	Private []string // passages that nothing recorded may repeat
}

// Told is what a harness says about a conversation: a title, or its own summary. Before it is stored, our Blocks, which
// would be taken for its own words, and the user's Private passages have to be taken out.
type Told struct {
	Session         *Session
	Project, Text   string
	Blocks, Private []string
}

// A FetchJob is a fetch that is to be run. Local: only the local identity files are to be read. FetchEnded follows.
type FetchJob struct {
	Fetch *Fetch
	Who   memory.Session
	Local bool
}

// A RecallJob is a search of memory for a held prompt's words, until a time. RecallBegins and Recalled follow.
type RecallJob struct {
	Prompt *Held
	Until  time.Time
}

// A Held is a prompt that waits until it is known what goes in front of it. It takes one step after the other; what is
// in the way of the next is asked of its owner (Step).
type Held struct {
	turn  *Turn
	key   string    // of the request
	bytes int       // of its frame
	read  time.Time // when that was read: the deadline runs from here

	step      heldStep
	again     bool // the ledger was asked again
	rounds    int  // how often another proxy has come first
	cancelled bool
	lost      correlation.StepName // Compacted or Cleared while its block is in flight, to be applied then

	from        correlation.State // the session's, once it is decided by
	fetch       *Fetch            // of what it is to carry; nil: nothing
	waits       bool              // it may wait for that
	continued   string            // how the conversation ended that the session continues
	recall      recall
	recallUntil time.Time      // it waits no longer for that
	found       memory.Context // what memory has found for its words
	next        Step           // what is composed
	last        bool           // if nothing comes of that, there is nothing to tell
	in          *Injection
}

// A heldStep is how far a held prompt is.
type heldStep uint8

const (
	toLedger    heldStep = iota // it needs to know what the ledger says
	toContinued                 // how the conversation ended that its session continues
	toContext                   // what it is to carry, and for that the fetch and what was recalled
	composing                   // its owner composes that
	claiming                    // its owner asks the ledger whether it may be inserted
	gone                        // it has left, or leaves
)

// A recall is how far a search of memory for a prompt's words is.
type recall uint8

const (
	notSought recall = iota
	seeking
	sought
)

// A Step is what a held prompt needs now.
type Step struct {
	Need  Need
	Until time.Time // but for Compose: no longer than this

	Lookup    *Lookup        // LookAgain
	Who       memory.Session // Compose
	Mode      string         // Compose: the session's
	Local     bool           // Compose: of the local identity files instead of Start
	Kind      string         // Compose
	Start     memory.Context // Compose
	Continued string         // Compose
	Recall    memory.Context // Compose
	Injection *Injection     // Claim, Leave; nil: it leaves as it came
	From      correlation.State
	Behind    int  // Continue, Claim: the ledger has to have so many events first
	Off       bool // Leave: nothing is known of it any more
}

// A Need is what a held prompt's owner is to do for it, and to come back with.
type Need uint8

const (
	Wait      Need = iota // until there is news; PromptWaits
	LookAgain             // ask the ledger again; LookedUp, PromptWaits
	Continue              // ask how the conversation ended that the session continues; ContinuedFound
	Compose               // make a block; Composed
	Claim                 // ask the ledger whether it may be inserted; Claimed, PromptWaits
	Leave                 // forward it
)

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
