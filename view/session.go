package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/delegation"
)

// A Session is a session as the page shows it.
type Session struct {
	ID                  int64
	ACPID, Key          string
	Title, Harness      string
	Client              string
	Project, Cwd        string
	Started, LastActive time.Time
	Live                bool
	Turns               []*Turn // the newest, as many as the page has room for
	Older               int     // how many turns it has no room for
	Used                string  // tokens and cost in words
	Digest              string  // what it was about
	Continues           *Session
	ContinuedBy         []*Session
	Caller              *Session         // the session that called it
	Called              []*Session       // sessions that it called; the page shows them below it
	For                 *DelegatedTask   // the task that it works on, from another agent or the command delegate
	Asked               []*DelegatedTask // the tasks that it gave other agents, the newest first
	AtWork              int              // how many of these are being worked on
	Folded              bool             // its turns become elements of the page only when somebody opens it

	parentKey  string
	continueOf int64
	input, out *int64
	cost       map[string]float64
}

// DelegatedTask is what a session, or a person, asked of another agent.
type DelegatedTask struct {
	delegation.Delegation
	Child   *Session // the session that works on it, where it is on the page
	By      *Session // the session that asked, where it is on the page
	Working bool     // it has not ended
	Took    time.Duration
	Why     string // why it ended so, or how far it is
}

// addInsertion adds a block to the turn that it was inserted in.
func (s *Session) addInsertion(t Insertion) {
	if len(s.Turns) == 0 {
		return
	}
	at := slices.IndexFunc(s.Turns, func(turn *Turn) bool { return turn.ended.IsZero() || !t.at.After(turn.ended) })
	if at < 0 {
		at = len(s.Turns) - 1
	}
	s.Turns[at].Told = append(s.Turns[at].Told, t)
}

// isBelow reports whether s is other, or was called by it, directly or through others.
func (s *Session) isBelow(other *Session) bool {
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

// fold folds a session and those that it called.
func (s *Session) fold() {
	s.Folded = true
	for _, called := range s.Called {
		called.fold()
	}
}
