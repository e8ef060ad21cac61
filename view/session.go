package view

import (
	"cmp"
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// A session is a session as the page shows it.
type session struct {
	ID                  int64
	ACPID, Key          string
	Title, Harness      string
	Client              string
	Project, Cwd        string
	Agent               string // Signet's
	Started, LastActive time.Time
	Live                bool
	Turns               []*turn // the newest, as many as the page has room for
	AllTurns            int
	Older               int       // how many turns there is no room for
	Used                string    // tokens and cost in words
	Digest              string    // what it was about
	Files               []touched // of its project, those that it edited first
	Edited              int       // how many of these it edited
	Told                int       // memories and files that it was told
	Notes               []embedded.Memory
	Match               string // where a search is met in it
	Continues           *session
	ContinuedBy         []*session
	Caller              *session         // the session that called it
	Called              []*session       // sessions that it called; the page shows them below it
	For                 *delegatedTask   // the task that it works on, from another agent or the command delegate
	Asked               []*delegatedTask // the tasks that it gave other agents, the newest first
	AtWork              int              // how many of these are being worked on

	parentKey  string
	continueOf int64
	input, out *int64
	cost       map[string]float64
}

// delegatedTask is what a session, or a person, asked of another agent.
type delegatedTask struct {
	delegation.Delegation
	Child   *session // the session that works on it, where it is on the page
	By      *session // the session that asked, where it is on the page
	Working bool     // it has not ended
	Took    time.Duration
	Why     string // why it ended so, or how far it is
	Used    string // turns, tokens and cost in words
}

// isBelow reports whether s is other, or was called by it, directly or through others.
func (s *session) isBelow(other *session) bool {
	for s != other {
		if s.Caller == nil {
			return false
		}
		s = s.Caller
	}
	return true
}

func oldestFirst(a, b *session) int {
	return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
}

// A touched is a file of a session.
type touched struct {
	embedded.FileTouched
	Others []*session // that edited it, too, and are on the page, the newest first
}

const maxOthers = 5 // sessions of a file

// addFiles adds to the sessions which files they touched.
func (c *conversations) addFiles(ctx context.Context, in correlation.Scope) error {
	files, err := c.src.Memories.FilesIn(ctx, in.Sessions)
	editors := map[[2]string][]*session{} // by project and path
	for _, s := range c.Listed {
		for _, f := range files[s.ID] {
			s.Files = append(s.Files, touched{FileTouched: f})
			if at := [2]string{s.Project, f.Path}; f.Edited() {
				s.Edited++
				editors[at] = append(editors[at], s)
			}
		}
	}
	for _, s := range c.byID {
		for i := range s.Files {
			f := &s.Files[i]
			for _, other := range editors[[2]string{s.Project, f.Path}] {
				if other != s && len(f.Others) < maxOthers {
					f.Others = append(f.Others, other)
				}
			}
		}
	}
	return err
}

// Tokens are all tokens that were reported, "" for none.
func (s *session) Tokens() string {
	all := telemetry.Plus(s.input, s.out)
	if all == nil {
		return ""
	}
	return brief(*all)
}

// conversations are sessions of a page.
type conversations struct {
	Turns, AllTurns, AllSessions int

	Listed  []*session       // the last active first
	Working []*delegatedTask // what delegated agents do now, the newest first

	src   Source
	byID  map[int64]*session
	byKey map[string]*session // by all Signet keys that they have had
}
