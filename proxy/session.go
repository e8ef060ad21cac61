package proxy

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A session is what this process knows of an ACP session. The relay's lock
// guards it. Its truth is in the ledger: two proxies may hold one session.
type session struct {
	id       string // the harness's sessionId; empty until its response names it
	early    string // that id, as updates have it that come before the response
	who      memory.Session
	open     correlation.OpenSession // how the ledger is to know it
	row      int64                   // the ledger's; 0 until it stands there
	opened   bool                    // the ledger knows that this process holds it
	state    correlation.State
	ready    chan struct{} // closed once the ledger has been asked about it
	unsure   bool          // the ledger has to be asked again
	stranger bool          // the client has opened it by an id that the ledger does not know
	context  *fetch        // what the next prompt is to get; nil when nothing was asked for
	placed   bool          // the identity is in its system prompt, and no prompt has waited for the memories yet
	heir     int64         // the ledger's row of a session whose unused context is this one's

	live     bool // the harness has it: its response said so
	off      bool // no context goes in, no turn is kept
	hidden   bool // its project is opted out: off, and the ledger never hears of it
	prompts  int  // in flight on this connection
	sent     bool // one of them carries context
	claims   int  // prompts of this process that carried any
	awaited  bool // what the harness shows has waited for the ledger
	commands map[string]bool

	given  []given  // what went in, oldest first
	seen   []string // ids of the items in it, the texts of those that have none
	forgot loss     // happened while context was in flight: re-armed when that has settled
	secret []string // the <private> parts of the user's prompts, which no turn may repeat

	replay replay
	turn   *turn
	brief  brief
	turns  []*turn // not yet all in the ledger, oldest first
	owed   []entry // changes that the ledger has not taken yet, in order
}

// given is a block that went to the harness.
type given struct {
	correlation.Injection
	shown bool // the harness has shown it since the session was last opened
}

// replay is what a harness has shown of its history since the session was
// opened and until the first prompt.
type replay struct {
	open   bool // it may still come
	whole  bool // the response that ends it has come, though some harnesses go on
	user   bool // a user's turn was shown
	marked bool // the block that counts was in it
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

// become moves a session to another state, where nothing is sent: here, and
// in the ledger if nobody has moved it there meanwhile. The relay's lock is held.
func (s *session) become(to correlation.State) {
	from := s.state
	s.state = to
	s.owe("state", func(ctx context.Context, l Ledger, row int64) error {
		return l.SetState(ctx, row, []correlation.State{from}, to)
	})
}

// switchOff leaves a session alone from now on, and what it has just said too. The relay's lock is held.
func (r *Relay) switchOff(s *session) {
	s.off, s.open.State = true, correlation.Off
	r.dropTurns(s)
	s.owe("switch off", func(ctx context.Context, l Ledger, row int64) error {
		return l.SetState(ctx, row, nil, correlation.Off)
	})
}

// dropTurns forgets the turns that the ledger does not have whole. The relay's lock is held.
func (r *Relay) dropTurns(s *session) {
	for _, t := range s.turns {
		r.unsaved -= t.counted
		t.counted = 0
	}
	s.turn, s.turns = nil, nil
	r.era.Add(1)
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

// waiting reports whether a session in its state is still to be given something that was fetched for it.
func (s *session) waiting() bool {
	return s.state == correlation.Armed || s.state == correlation.IdentityGiven
}

// elsewhere reports whether the session's context was in another proxy's
// hands when last it was heard of.
func (s *session) elsewhere() bool { return s.state == correlation.InFlight && !s.sent }

// wants reports whether a plain prompt of this session has to be held: it
// may get context, or the ledger has not said yet. A second prompt beside one
// in flight never is; what is in flight otherwise is another proxy's, and may have come back.
func (s *session) wants(perPrompt bool) bool {
	if s.off || s.prompts > 0 {
		return false
	}
	if !s.settled() || s.unsure {
		return true
	}
	switch s.state {
	case correlation.Armed, correlation.IdentityGiven, correlation.Doubt, correlation.InFlight:
		return true
	}
	return perPrompt
}

// replays says that the harness may show its history from now on: what went in may come back once each. The relay's lock is held.
func (s *session) replays() {
	s.replay = replay{open: true}
	for i := range s.given {
		s.given[i].shown = false
	}
}

// last gives the newest block that went into a prompt and was not only recall for it: the one that a doubt is about.
func (s *session) last() (given, bool) {
	for _, g := range slices.Backward(s.given) {
		if g.Kind != kindRecall && g.Kind != kindSystem {
			return g, true
		}
	}
	return given{}, false
}

// gave notes a block that goes in. One that was refused is no other than that
// which goes in again.
func (s *session) gave(in correlation.Injection) {
	s.given = slices.DeleteFunc(s.given, func(g given) bool { return g.Outcome == outcomeRefused && g.Text == in.Text })
	s.given = append(s.given, given{Injection: in})
}

// blocks gives the texts that went in.
func (s *session) blocks() []string {
	texts := make([]string, len(s.given))
	for i, g := range s.given {
		texts[i] = g.Text
	}
	return texts
}

// label is the session's id as logs have it: nothing says that a harness may not send one of a megabyte.
func (s *session) label() string {
	return s.id[:min(len(s.id), maxLabel)]
}

const maxLabel = 128

// slashCommand gives the command that a prompt's text is, or "". It is one
// where the harness advertised the word, or where it looks like one and no
// path: `/home/x is broken` is none (facts/harnesses.md: no placement of an
// extra block survives every harness's parsing of commands).
func (s *session) slashCommand(text string, prefixes []string) string {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	for _, prefix := range prefixes {
		word, ok := strings.CutPrefix(text, prefix)
		if !ok {
			continue
		}
		if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
			word = word[:i]
		}
		if word != "" && (s.advertised(word, prefixes) || !strings.Contains(word, "/")) {
			return word
		}
	}
	return ""
}

// advertised reports whether the harness named a command, with or without the sign in front of it.
func (s *session) advertised(word string, prefixes []string) bool {
	return s.commands[word] || slices.ContainsFunc(prefixes, func(prefix string) bool { return s.commands[prefix+word] })
}

// sessionOf finds a session of this connection.
func (r *Relay) sessionOf(id []byte) *session { return r.sessions[string(id)] }

// sessionFor finds the session that an update is about. Some harnesses show
// a fork's history, or name its commands, before the response that names its
// id: what is about nobody is about a session that is being made.
func (r *Relay) sessionFor(id []byte) *session {
	s := r.sessionOf(id)
	if s != nil || len(id) == 0 {
		return s
	}
	for _, s := range r.births {
		if s.early == string(id) {
			return s
		}
	}
	for _, s := range r.births {
		if s.early == "" {
			s.early = string(id)
			return s
		}
	}
	return nil
}

// newSession makes a session that has still to be looked up or named.
func (r *Relay) newSession(cwd string) *session {
	who := memory.Session{Harness: r.harness(), Cwd: cwd, Project: memory.Project(cwd), AgentID: r.o.AgentID}
	hidden := memory.OptedOut(cwd, r.o.Exclude)
	return &session{
		who:   who,
		ready: make(chan struct{}),
		open: correlation.OpenSession{
			Harness: r.harness(), Agent: r.agent.name, AgentVersion: r.agent.version,
			Cwd: cwd, Project: who.Project, AgentID: r.o.AgentID,
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
