// Package delegation is how one agent asks another for a piece of work: who can be asked, what may be asked, and how
// the work is run once and ends in a known state.
//
// Each delegation is first a row in the database. Ledger keeps the rows; Runner carries one out, in a process of its
// own that outlives the caller, by starting this program before the other agent as any client does; Service is what
// callers use, by tools and commands. Package scope decides what may be handed on, package worktree where a child
// works, package bounds keeps it there, and acpclient speaks ACP with it.
package delegation

import (
	"cmp"
	"fmt"
	"time"
)

// A Mode says what the other agent may do with files.
type Mode string

// The modes.
const (
	Read Mode = "read"
	Edit Mode = "edit"
)

// A Caller is the session, or the person, that asks. What has no column of its own is in the column request, as JSON.
type Caller struct {
	Key     string `json:"-"`       // the Signet key of the session; "": a person
	Process string `json:"process"` // the correlation id of the caller's process; when that ends, the caller has ended
	Harness string `json:"harness"`
	Turn    int64  `json:"-"` // the row of the turn that asks, 0: not known
	Cwd     string `json:"cwd"`
	Project string `json:"project"`
	Inside  string `json:"-"` // the delegation that the caller works for, "" for none
	Person  bool   `json:"-"` // at the command line
}

// A Delegation is a row: who asked for what, how far that is, and how it ended.
type Delegation struct {
	ID string
	Caller
	Request
	Root  string // the caller at the top of the tree
	Depth int    // 1: nobody delegated to the caller

	State  State
	Runner string // the process that runs it
	Cancel string // why it is to end; "" for no reason
	Run
	Result
	ContinuedBy string // the one that goes on with it, and has its changes

	Created, Started, Ended time.Time
}

// A Run is what a runner notes while it works. Progress and usage are in the column work, as JSON.
type Run struct {
	ACPID    string `json:"-"` // the child's session
	Folder   string `json:"-"` // with what the child writes or, at the end, with what is handed back
	Tree     string `json:"-"` // that a follow-up would go on in, "" for none
	Progress string `json:"progress,omitempty"`
	Last     string `json:"last,omitempty"` // line that the child has said
	Usage    Usage  `json:"usage"`
}

// A Result is what came of it: the column result, as JSON.
type Result struct {
	Stop    string   `json:"stop,omitempty"`   // the stop reason of the child's turn
	Reason  string   `json:"reason,omitempty"` // why it ended so, for people
	Answer  string   `json:"answer,omitempty"` // the child's last message
	Branch  string   `json:"branch,omitempty"` // with the changes, in the repository git below the folder
	Paths   []string `json:"paths,omitempty"`  // files that the child wrote
	Refused []string `json:"refused,omitempty"`
	Verdict *float64 `json:"verdict,omitempty"` // of who asked: -1 to 1
	Note    string   `json:"note,omitempty"`
	Check   *Check   `json:"check,omitempty"` // the last one; nil for none
	Brief   string   `json:"brief,omitempty"` // what was decided, is open and was given up (memory.Brief)
}

// A Check is how a command ended that looks at what a child has made, in the child's tree and bounds.
type Check struct {
	Command string  `json:"command"`
	Exit    int     `json:"exit"`
	Seconds float64 `json:"seconds"`
	Last    string  `json:"last"` // lines of its output
}

// String says in a line how it ended.
func (c Check) String() string {
	return fmt.Sprintf("%s: exit %d after %.1f s", c.Command, c.Exit, c.Seconds)
}

// By returns who asked, by its harness; "": a person.
func (d Delegation) By() string {
	if d.Key == "" && d.Inside == "" {
		return ""
	}
	return cmp.Or(d.Harness, "another agent")
}
