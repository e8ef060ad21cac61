package session

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Beside is what goes on beside the conversation. No method waits. What comes of it comes back to the Owner
// (Tell).
type Beside interface {
	Record(...correlation.Event) // in this order
	Hurry(Urgency)               // there is something to record
	Fault(*Session, error)       // of this program's own
	LookUp(context.Context, *Lookup)
	FindRecord(*Session)
	// Fetch runs a fetch, with local of the local identity files alone. FetchEnded follows.
	Fetch(f *Fetch, who memory.Session, local bool)

	// For a held prompt.

	// Recall searches memory for its words, for the session who, without what that was given before (Held.Found).
	Recall(p *Held, who memory.Session, given []string)
	// Continued asks how the conversation ended that its session continues (Held.Continued).
	Continued(context.Context, *Held)
	// Identity reads the local identity files (Held.Files).
	Identity(*Held, memory.Session)
	// Claim asks the ledger whether its session in a state may be given a block, and records that it is. Claimed
	// follows.
	Claim(ctx context.Context, p *Held, from correlation.State, in correlation.Injection)
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
	Session  *Session
	Kind     OpeningKind
	Harness  string
	ID       string // of the session that the ledger is asked for; "" for a new one
	Cwd      string // of a new one
	Row      int64  // for a new one: of the session whose load has failed; 0: none
	Had      bool   // the ledger had it before
	Recorded bool   // something of what it is about is, which the ledger has to have first

	of       *Session          // that the ledger is asked about: Session, or the parent of a fork
	then     correlation.State // of that, as its fork was requested
	claimed  bool              // prompts have carried blocks since, which are not in the fork's history
	failed   *Session
	after    []*Session // the ledger answers about these first
	begun    bool
	ended    bool
	outdated bool // the client has opened the session again since
}
