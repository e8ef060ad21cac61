package delegation

import (
	"errors"
	"fmt"
	"strings"
)

// maxTask is how many bytes a task may have.
const maxTask = 48 << 10

// A Request is what a caller asks for. What has no column of its own is in the column request, as JSON.
type Request struct {
	Agent  string `json:"-"`     // "": the best one for the task
	Kind   string `json:"kind"`  // of work: a capability that the words of the request name, else its mode
	Task   string `json:"task"`  // in a row without secrets
	Scope  string `json:"scope"` // delegated_scope: what the other agent is responsible for
	Kept   string `json:"kept"`  // kept_work: what stays with the caller
	Mode   Mode   `json:"mode"`  // "": Read
	Budget Budget `json:"budget"`
	Detach bool   `json:"detach,omitempty"` // it goes on when the caller ends

	IdempotencyKey string `json:"-"`                     // two requests with the same are one; "": made of all of it
	Continues      string `json:"-"`                     // a delegation that has ended: in its session and its tree
	Model          string `json:"model,omitempty"`       // of the other's session; "": as it opens
	SessionMode    string `json:"sessionMode,omitempty"` // likewise
}

// check refuses what no agent could be given, and puts defaults in place.
func (r *Request) check() error {
	r.Task = strings.TrimSpace(r.Task)
	if r.Mode == "" {
		r.Mode = Read
	}
	switch {
	case r.Task == "":
		return errors.New("task is empty: write the task, with everything the other agent must know")
	case len(r.Task) > maxTask:
		return fmt.Errorf("task has %d bytes, the maximum is %d: name files, do not quote them", len(r.Task), maxTask)
	case r.Mode != Read && r.Mode != Edit:
		return fmt.Errorf("mode must be read or edit, not %q", r.Mode)
	}
	return r.Budget.check()
}
