package session

import (
	"slices"
	"strings"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
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

// SlashCommand gives the command that a prompt's text is, or "". It is one
// where the harness advertised the word, or where it looks like one and no
// path: `/home/x is broken` is none (docs/facts/harnesses.md: no placement of an
// extra block survives every harness's parsing of commands).
func (c *Connection) SlashCommand(s *Session, text string) string {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	for _, prefix := range c.o.Commands {
		word, ok := strings.CutPrefix(text, prefix)
		if !ok {
			continue
		}
		if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
			word = word[:i]
		}
		if word != "" && (c.advertised(s, word) || !strings.Contains(word, "/")) {
			return word
		}
	}
	return ""
}

// advertised reports whether the harness named a command, with or without the sign in front of it.
func (c *Connection) advertised(s *Session, word string) bool {
	return s.commands[word] ||
		slices.ContainsFunc(c.o.Commands, func(prefix string) bool { return s.commands[prefix+word] })
}

// SwitchOff leaves a session alone from now on, and what it has just said too.
func (c *Connection) SwitchOff(s *Session) {
	s.Off = true
	c.dropTurns(s)
	c.step(s, correlation.Event{Name: correlation.SwitchedOff})
}

// Forget keeps nothing more of a session that a person has had forgotten.
func (c *Connection) Forget(s *Session) {
	s.Off, s.Hidden, s.before = true, true, nil
	c.dropTurns(s)
}
