package delegation

import (
	"cmp"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/delegation/scope"
)

// A Row is a delegation as agents and scripts read it.
type Row struct {
	ID       string     `json:"id"`
	Agent    string     `json:"agent"`
	State    State      `json:"state"`
	Mode     Mode       `json:"mode"`
	Kind     string     `json:"kind"` // of work: a capability, else the mode
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
	Last     string     `json:"last,omitempty"`     // line that it has said, until it has ended
	By       string     `json:"by,omitempty"`       // the caller's agent, "" for a person
	Result
	Folder  string   `json:"folder,omitempty"` // with the changes, until they are discarded
	Paths   []string `json:"paths"`            // files that the child wrote
	Refused []string `json:"refused"`          // requests for permission that were refused

	Continues   string `json:"continues,omitempty"`   // the delegation that it goes on with
	ContinuedBy string `json:"continuedBy,omitempty"` // the one that goes on with it, and has its changes
	Tree        string `json:"tree,omitempty"`        // where a follow-up would go on
}

// Row is the delegation as agents and scripts read it.
func (d Delegation) Row() Row {
	r := Row{ID: d.ID, Agent: d.Agent, State: d.State, Mode: d.Mode, Kind: d.Kind, Task: d.Task,
		Scope: list(scope.Items(d.Scope)), Kept: list(scope.Items(d.Kept)), Session: d.ACPID, By: d.By(),
		Parent: cmp.Or(d.Inside, d.Key), Depth: d.Depth, Started: d.Created.UTC(), Usage: d.Usage,
		Result: d.Result, Paths: list(d.Paths), Refused: list(d.Refused), Continues: d.Continues,
		ContinuedBy: d.ContinuedBy, Tree: d.Tree}
	if d.State.Ended() {
		ended := d.Ended.UTC()
		r.Ended = &ended
	} else {
		r.Progress, r.Last = d.Progress, d.Last
	}
	if d.Mode == Edit {
		r.Folder = d.Folder
	}
	return r
}

// list returns a list that is not nil, which JSON would show as null.
func list(all []string) []string { return append([]string{}, all...) }
