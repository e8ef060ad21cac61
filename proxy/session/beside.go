package session

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Beside is what goes on beside the conversation. No method waits. What comes of it comes back to the Owner, or through
// the channel that a method returns.
type Beside interface {
	Record(...correlation.Event) // in this order
	Hurry(Urgency)               // there is something to record
	Fault(*Session, error)       // of this program's own
	LookUp(context.Context, *Lookup)
	FindRecord(*Session)
	// Fetch runs a fetch, with local of the local identity files alone. FetchEnded follows.
	Fetch(f *Fetch, who memory.Session, local bool)
	Recall(p *Held, words string, until time.Time)

	// For a held prompt.

	// Continued says how the conversation ended that a session continues; "" if it continues none.
	Continued(ctx context.Context, s *Session) <-chan string
	// Identity reads the local identity files. IdentityRead follows.
	Identity(*Held, memory.Session)
	// Claim asks the ledger whether a session in a state may be given a block, and records that it is. If that is
	// granted once ctx has ended, and nobody has taken the answer, it is taken back.
	Claim(ctx context.Context, s *Session, from correlation.State, in correlation.Injection) <-chan error
}

// Urgency says how soon something is to be recorded.
type Urgency uint8

const (
	Soon  Urgency = iota
	Later         // within a while
	Now
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
	ended    bool
	outdated bool // the client has opened the session again since
}

// A Held is a prompt that waits until it is known what goes in front of it.
type Held struct {
	Session *Session
	Read    time.Time // when its frame was: every limit runs from here

	turn *Turn
	key  string // of the request
	line []byte // the frame as the client sent it; nil once it has left

	ctx       context.Context      // of its wait, claim included; the client's cancel ends it, too
	cancel    context.CancelFunc   // ends ctx
	cancelled bool                 // by the client
	beaten    bool                 // another proxy has claimed its session
	gone      bool                 // it has left
	lost      correlation.StepName // Compacted or Cleared while its block is in flight, to be applied then

	recalls   bool            // memory is searched for its words
	recallFor time.Duration   // it waits no longer for that
	found     memory.Context  // what memory has found for its words
	reading   bool            // the local identity files are asked for
	identity  *memory.Context // these; nil: they are not read
}
