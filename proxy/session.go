package proxy

import (
	"context"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A session is what this process knows of an ACP session. The relay's lock
// guards it. Its truth is in the ledger: two proxies may hold one session.
type session struct {
	id      string // the harness's sessionId; empty until its response names it
	who     memory.Session
	open    correlation.OpenSession // how the ledger is to know it
	row     int64                   // the ledger's; 0 until it stands there
	opened  bool                    // the ledger knows that this process holds it
	state   correlation.State
	ready   chan struct{} // closed once the ledger has been asked about it
	context *fetch        // what the first prompt gets; nil when it needs none

	live     bool // the harness has it: its response said so
	off      bool // no context goes in, no turn is kept
	hidden   bool // its project is opted out: off, and the ledger never hears of it
	prompts  int  // in flight on this connection
	commands map[string]bool

	blocks []string // texts that went in, for cutting them out of what the harness shows
	seen   []string // ids of the items in them
	secret []string // the <private> parts of the user's prompts, which no turn may repeat

	replay replay
	turn   *turn
	brief  brief
	turns  []*turn // not yet all in the ledger, oldest first
	owed   []entry // changes that the ledger has not taken yet, in order
}

// replay is what a harness has shown of its history in this process.
type replay struct {
	loaded bool // a session/load has succeeded, or is under way
	user   bool // a user's turn was shown
	marked bool // one with our block
}

// An entry is one change of a session's row in the ledger.
type entry struct {
	name string
	make func(ctx context.Context, l Ledger, row int64) error
}

// maxOwed bounds the changes that wait while the ledger cannot take any.
const maxOwed = 64

// owe queues a change of the session in the ledger. The relay's lock is held.
func (s *session) owe(name string, make func(context.Context, Ledger, int64) error) {
	if len(s.owed) < maxOwed {
		s.owed = append(s.owed, entry{name, make})
	}
}

// settled reports whether the ledger has been asked about the session.
func (s *session) settled() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// wants reports whether a plain prompt of this session has to be held: it
// may get context, or the ledger has not said yet. A second prompt beside one in flight never is.
func (s *session) wants(perPrompt bool) bool {
	if s.off || s.prompts > 0 {
		return false
	}
	if !s.settled() {
		return true
	}
	switch s.state {
	case correlation.Armed, correlation.IdentityGiven, correlation.Doubt:
		return true
	}
	return perPrompt
}

// slashCommand gives the command that a prompt's text is, or "". It is one
// where the harness advertised the word, or where it looks like one and no
// path: `/home/x is broken` is none (facts/harnesses.md: no placement of an
// extra block survives every harness's parsing of commands).
func (s *session) slashCommand(text string, prefixes []string) string {
	text = strings.TrimLeft(text, " \t\r\n")
	for _, prefix := range prefixes {
		rest, ok := strings.CutPrefix(text, prefix)
		if !ok {
			continue
		}
		word := rest
		if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
			word = rest[:i]
		}
		if word != "" && (s.commands[word] || s.commands[prefix+word] || !strings.Contains(word, "/")) {
			return word
		}
	}
	return ""
}

// sessionOf finds a session of this connection.
func (r *Relay) sessionOf(id []byte) *session { return r.sessions[string(id)] }

// newSession makes a session that has still to be looked up or named.
func (r *Relay) newSession(cwd string) *session {
	who := memory.Session{Harness: r.harness(), Cwd: cwd, Project: memory.Project(cwd), AgentID: r.o.AgentID, ParentKey: r.o.ParentKey}
	hidden := memory.OptedOut(cwd, r.o.Exclude)
	return &session{
		who:   who,
		ready: make(chan struct{}),
		open: correlation.OpenSession{
			Cwd: cwd, Project: who.Project, AgentID: r.o.AgentID, ParentKey: r.o.ParentKey,
			Client: r.client.name, ClientVersion: r.client.version,
		},
		off: hidden, hidden: hidden,
	}
}

// harness is the name that sessions are known by: the agent's own, else the
// one that it was started as. The relay's lock is held.
func (r *Relay) harness() string {
	if r.agent.name != "" {
		return r.agent.name
	}
	return r.o.Name
}
