package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// A Session is a conversation as the page shows it.
type Session struct {
	ID                  int64
	ACPID, Key          string
	Title, Harness      string
	Client              string
	Project, Cwd        string
	Started, LastActive time.Time
	Live                bool
	Turns               []*Turn // the newest, as far as the page has room
	Older               int     // turns that it has no room for
	Used                string  // tokens and cost in words
	Continues           *Session
	ContinuedBy         []*Session
	Caller              *Session   // the session that called it
	Called              []*Session // sessions that it called; they stand below it
	For                 *Asked     // what it was asked by another agent, or with the command delegate
	Asked               []*Asked   // what it asked of other agents, the newest first
	AtWork              int        // agents that are at that now
	Folded              bool       // its turns are made elements only when somebody opens it

	parentKey  string
	continueOf int64
	input, out *int64
	cost       map[string]float64
}

// Asked is what a session, or a person, asked of another agent.
type Asked struct {
	delegation.Delegation
	Child   *Session // that works on it, where it is on the page
	By      *Session // that asked, where it is on the page
	Working bool     // it is not at its end
	Took    time.Duration
	Why     string // how it ended, or how far it is
}

// add puts a block with the turn that it was inserted in.
func (s *Session) add(t Told) {
	if len(s.Turns) == 0 {
		return
	}
	at := slices.IndexFunc(s.Turns, func(turn *Turn) bool { return turn.ended.IsZero() || !t.at.After(turn.ended) })
	if at < 0 {
		at = len(s.Turns) - 1
	}
	s.Turns[at].Told = append(s.Turns[at].Told, t)
}

// below reports whether a session is other, or was called by it, at whatever distance.
func (s *Session) below(other *Session) bool {
	for s != other {
		if s.Caller == nil {
			return false
		}
		s = s.Caller
	}
	return true
}

func oldestFirst(a, b *Session) int {
	return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
}

// fold leaves a session's turns out until somebody opens it, and those of the sessions that it called.
func (s *Session) fold() {
	s.Folded = true
	for _, called := range s.Called {
		called.fold()
	}
}
