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
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/delegation/scope"
)

// A State of a delegation. Those after Running are final.
type State string

// The states.
const (
	Queued    State = "queued"    // no runner has begun it
	Running   State = "running"   // its runner lives
	Done      State = "done"      // the other agent ended its turn by itself
	Failed    State = "failed"    // it could not be run, or the other agent failed
	Cancelled State = "cancelled" // the caller, or its end, ended it
	Stopped   State = "stopped"   // its budget was used up
	Lost      State = "lost"      // its runner was killed: how far it came is not known
)

// Ended reports whether the state is final.
func (s State) Ended() bool { return s != Queued && s != Running }

// answers reports whether the delegation is the answer to a request that is repeated. What failed may have been mended
// since; what was lost may be done, and nothing is done twice because somebody was killed.
func (s State) answers() bool { return s == Done || s == Lost || !s.Ended() }

// A Mode says what the other agent may do with files.
type Mode string

// The modes.
const (
	Read Mode = "read"
	Edit Mode = "edit"
)

// A Budget limits a delegation; zero means no limit.
type Budget struct {
	Turns   int     `json:"turns,omitempty"`   // calls of the model: one, and one more for each tool call
	Tokens  int64   `json:"tokens,omitempty"`  // as far as the agent reports them
	Cost    float64 `json:"cost,omitempty"`    // in the currency that the agent reports
	Seconds int     `json:"seconds,omitempty"` // wall-clock time
}

const (
	// DefaultTime limits a delegation that names no time, maxTime any.
	DefaultTime = 30 * time.Minute
	maxTime     = 24 * time.Hour

	maxTask = 48 << 10 // bytes of a task
)

// within returns b with no limit looser than outer's.
func (b Budget) within(outer Budget) Budget {
	return Budget{smaller(b.Turns, outer.Turns), smaller(b.Tokens, outer.Tokens), smaller(b.Cost, outer.Cost),
		smaller(b.Seconds, outer.Seconds)}
}

// smaller returns the smaller one of two limits, where 0 is no limit.
func smaller[T int | int64 | float64](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Usage is what a delegation has used; nil is not reported.
type Usage struct {
	Turns    int      `json:"turns"`
	Tokens   *int64   `json:"tokens"`
	Cost     *float64 `json:"cost"`
	Currency string   `json:"currency,omitempty"`
}

// over says which limit is reached, "" for none.
func (b Budget) over(u Usage) string {
	switch {
	case b.Turns > 0 && u.Turns > b.Turns:
		return fmt.Sprintf("its budget of %d turns is used up", b.Turns)
	case b.Tokens > 0 && u.Tokens != nil && *u.Tokens >= b.Tokens:
		return fmt.Sprintf("its budget of %d tokens is used up", b.Tokens)
	case b.Cost > 0 && u.Cost != nil && *u.Cost >= b.Cost:
		return fmt.Sprintf("its budget of %g %s is used up", b.Cost, u.Currency)
	}
	return ""
}

// A Caller is the session, or the person, that asks.
type Caller struct {
	Key     string // the Signet key of the session; "": a person
	Process string // the correlation id of the caller's process; when that ends, the caller has ended
	Harness string
	Turn    int64 // the row of the turn that asks, 0: not known
	Cwd     string
	Project string
	Inside  string // the delegation that the caller works for, "" for none
	Person  bool   // at the command line
}

// A Request is what a caller asks for.
type Request struct {
	Agent  string // "": the best one for the task
	Task   string
	Scope  string // delegated_scope: what the other agent is responsible for
	Kept   string // kept_work: what stays with the caller
	Mode   Mode   // "": Read
	Budget Budget
	Key    string // requests with the same key are one; "": made of scope and task
	Detach bool   // it goes on when the caller ends

	Continues          string // a delegation that has ended: it goes on in its session and its tree
	Model, SessionMode string // of the other's session; "": as it opens
}

// An Assignment is what a runner is told and the row does not have: the task word for word, for the row has it without
// secrets, and what the other's session is to be set to.
type Assignment struct {
	Task        string `json:"task"`
	Model       string `json:"model,omitempty"`
	SessionMode string `json:"sessionMode,omitempty"`
}

// check refuses what no agent could be given, and puts defaults in place.
func (r *Request) check() error {
	r.Task = strings.TrimSpace(r.Task)
	if r.Mode == "" {
		r.Mode = Read
	}
	b := r.Budget
	switch {
	case r.Task == "":
		return errors.New("task is empty: write what the other agent is to do, with all that it must know")
	case len(r.Task) > maxTask:
		return fmt.Errorf("task has %d bytes and %d fit: name files instead of quoting them", len(r.Task), maxTask)
	case r.Mode != Read && r.Mode != Edit:
		return fmt.Errorf("mode is read or edit, not %q", r.Mode)
	case b.Turns < 0 || b.Tokens < 0 || !(b.Cost >= 0) || b.Seconds < 0:
		return errors.New("a budget is not negative: leave out what is not to be bounded")
	case b.Seconds > int(maxTime.Seconds()):
		return fmt.Errorf("a delegation runs %v at most: give fewer seconds", maxTime)
	}
	if b.Seconds == 0 {
		r.Budget.Seconds = int(DefaultTime.Seconds())
	}
	return nil
}

// A Delegation is a row. Fields without a comment are explained at Row and Request.
type Delegation struct {
	ID string
	Caller
	Parent   string // the delegation inside which it was asked
	Root     string // the caller at the top of the tree
	Depth    int    // 1: nobody delegated to the caller
	Agent    string
	Mode     Mode
	Kind     string // of work: a capability, or one of kinds
	Detach   bool
	Budget   Budget
	Scope    string
	Kept     string
	Task     string
	State    State
	Runner   string // the process that runs it
	Cancel   string // why it is to end; "" for no reason
	ACPID    string // the child's session
	Folder   string
	Branch   string
	Progress string
	Stop     string
	Reason   string
	Usage    Usage
	Paths    []string
	Refused  []string
	Verdict  *float64
	Note     string
	Created  time.Time
	Started  time.Time
	Ended    time.Time
	Answer   string

	Continues, ContinuedBy string
	Tree                   string // the folder that a follow-up would go on in, "" for none
}

// By returns who asked, by its harness; "": a person.
func (d Delegation) By() string {
	if d.Key == "" && d.Parent == "" {
		return ""
	}
	return cmp.Or(d.Harness, "another agent")
}

// A Row is a delegation as agents and scripts read it.
type Row struct {
	ID       string     `json:"id"`
	Agent    string     `json:"agent"`
	State    State      `json:"state"`
	Mode     Mode       `json:"mode"`
	Kind     string     `json:"kind"` // of work: a capability, or one of kinds
	Task     string     `json:"task"`
	Scope    []string   `json:"scope"`   // items of delegated_scope
	Kept     []string   `json:"kept"`    // items of kept_work
	Session  string     `json:"session"` // the child's ACP session
	Parent   string     `json:"parent"`  // the delegation that it was asked in, else the Signet key of the caller
	Depth    int        `json:"depth"`   // 1: nobody delegated to the caller
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended"`
	Usage    Usage      `json:"usage"`
	Progress string     `json:"progress,omitempty"` // what the child is doing, until it has ended
	Stop     string     `json:"stop,omitempty"`     // the stop reason of the child's turn
	Reason   string     `json:"reason,omitempty"`   // why it ended so, for people
	Branch   string     `json:"branch,omitempty"`   // with the changes, in the repository git below folder
	Folder   string     `json:"folder,omitempty"`   // with the changes, until they are discarded
	Paths    []string   `json:"paths"`              // files that the child wrote
	Refused  []string   `json:"refused"`            // requests for permission that were refused
	Verdict  *float64   `json:"verdict,omitempty"`  // the caller's, from -1 to 1
	Note     string     `json:"note,omitempty"`     // beside the verdict
	Answer   string     `json:"answer,omitempty"`   // the child's last message

	Continues   string `json:"continues,omitempty"`   // the delegation that it goes on with
	ContinuedBy string `json:"continuedBy,omitempty"` // the one that goes on with it, and has its changes
	Tree        string `json:"tree,omitempty"`        // where a follow-up would go on
}

// Row is the delegation as agents and scripts read it.
func (d Delegation) Row() Row {
	r := Row{ID: d.ID, Agent: d.Agent, State: d.State, Mode: d.Mode, Kind: d.Kind, Task: d.Task,
		Scope: list(scope.Items(d.Scope)), Kept: list(scope.Items(d.Kept)), Session: d.ACPID, Parent: d.Parent,
		Depth: d.Depth, Started: d.Created.UTC(), Usage: d.Usage, Stop: d.Stop, Reason: d.Reason, Branch: d.Branch,
		Paths: list(d.Paths), Refused: list(d.Refused), Verdict: d.Verdict, Note: d.Note, Answer: d.Answer}
	r.Continues, r.ContinuedBy, r.Tree = d.Continues, d.ContinuedBy, d.Tree
	if r.Parent == "" {
		r.Parent = d.Key
	}
	if d.State.Ended() {
		ended := d.Ended.UTC()
		r.Ended = &ended
	} else {
		r.Progress = d.Progress
	}
	if d.Mode == Edit {
		r.Folder = d.Folder
	}
	return r
}

// list returns a list that is not nil, which JSON would show as null.
func list(all []string) []string { return append([]string{}, all...) }
