package correlation

import (
	"errors"
	"fmt"
)

// A State says whether a session has had its context. Every change of it is a step in the table below (State.On).
type State string

const (
	Armed         State = "armed"          // not yet
	IdentityGiven State = "identity given" // identity only; the memories follow with a later prompt
	InFlight      State = "in flight"      // sent, and not answered yet
	Doubt         State = "doubt"          // sent, and nobody knows whether the harness kept it
	Done          State = "done"
	Off           State = "off" // nothing is inserted
)

// States are all of them.
var States = []State{Armed, IdentityGiven, InFlight, Doubt, Done, Off}

// An Outcome says what became of a block that was sent.
type Outcome string

const (
	Unsettled  Outcome = "" // of a step that says nothing about a block
	Sending    Outcome = "in flight"
	Kept       Outcome = "kept"
	WasRefused Outcome = "refused" // it is not in the conversation
	InDoubt    Outcome = "doubt"
	// WasCancelled is a doubt that "keeps failed prompts" does not settle: its turn was cancelled.
	WasCancelled Outcome = "cancelled"
)

// A StepName names something that happens to a session's context.
type StepName string

const (
	Sent      StepName = "sent"          // a prompt leaves with a block in front
	Answered  StepName = "answered"      // that prompt has a result, and the harness keeps it
	Refused   StepName = "refused"       // the harness did not take it up, or has forgotten it, or it never left
	Failed    StepName = "failed"        // it has any other error
	Cancelled StepName = "cancelled"     // its turn was cancelled, and nobody knows what the harness keeps of that
	Died      StepName = "died"          // the harness, or the process that holds the session, died in the turn
	Marked    StepName = "replay marked" // a replay of the history shows the block
	// a replay shows a user's turn without the block, or the block is not known
	Clean         StepName = "replay clean"
	AssumedKept   StepName = "assumed kept"    // no replay came, and this harness keeps failed prompts
	Compacted     StepName = "compacted"       // the harness has summed up the conversation
	Cleared       StepName = "cleared"         // the harness has forgotten the conversation
	NothingToTell StepName = "nothing to tell" // the sources have answered, and have nothing for this session
	Placed        StepName = "placed"          // the identity is in the system prompt of a new session
	Forked        StepName = "forked"          // gives the state of the fork; the parent's stays as it is
	SwitchedOff   StepName = "switched off"    // the session wants no context
)

// StepNames are all of them.
var StepNames = []StepName{Sent, Answered, Refused, Failed, Cancelled, Died, Marked, Clean, AssumedKept, Compacted,
	Cleared, NothingToTell, Placed, Forked, SwitchedOff}

// A Step is what happens to a session's context, with what decides where it leads.
type Step struct {
	Name StepName `json:"name"`
	// From is the state in which the block in flight was sent: for those that settle it.
	From State `json:"from,omitempty"`
	// Partly: the block was the identity alone, and the memories are still to come: for Answered, Marked and
	// AssumedKept.
	Partly bool `json:"partly,omitempty"`
	// Placed: the identity is in the system prompt, where it stays whatever becomes of the conversation: for Clean,
	// Compacted and Cleared.
	Placed bool `json:"placed,omitempty"`
	// Whole: after a compaction everything goes in again, not the identity alone: for Compacted.
	Whole bool `json:"whole,omitempty"`
	// Unknown: the ledger does not have the session, so that it is armed only by assumption: for Marked.
	Unknown bool `json:"stranger,omitempty"`
}

// ErrIllegalStep is a step in a state in which it cannot happen: a fault of this program, which is logged and changes
// nothing.
var ErrIllegalStep = errors.New("this cannot happen in this state")

// IllegalStep is an ErrIllegalStep that says which.
func IllegalStep(in State, step StepName) error {
	return fmt.Errorf("%q in state %q: %w", step, in, ErrIllegalStep)
}

// On is the one table of a session's states: it returns the state that a step leads to, and what became of the block
// that was in flight or in doubt. ok is false where it cannot happen in s; the state is then s. A step that means
// nothing in a state (a compaction of an armed session) leaves it as it is.
func (s State) On(step Step) (next State, became Outcome, ok bool) {
	switch step.Name {
	case Sent:
		switch s {
		case Armed, IdentityGiven, Doubt, Done:
			return InFlight, Sending, true
		}
		return s, Unsettled, false
	case Answered, Refused, Failed, Cancelled, Died:
		return s.settle(step)
	case Marked, AssumedKept:
		switch {
		case s == Doubt && step.Partly:
			return IdentityGiven, Kept, true
		case s == Doubt:
			return Done, Kept, true
		case s == Armed && step.Name == Marked && step.Unknown:
			return Done, Unsettled, true
		}
	case Clean:
		if s == Doubt {
			return step.withoutBlock(), WasRefused, true
		}
	case Compacted:
		switch {
		case s == Done && step.Placed && !step.Whole: // a system prompt outlives it
		case s == Done, s == IdentityGiven:
			return step.withoutBlock(), Unsettled, true
		}
	case Cleared:
		switch s {
		case Done, IdentityGiven:
			return step.withoutBlock(), Unsettled, true
		case Doubt: // settled: there is nothing left of the conversation
			return step.withoutBlock(), WasRefused, true
		}
	case NothingToTell:
		switch s {
		case Armed, IdentityGiven:
			return Done, Unsettled, true
		case InFlight, Doubt:
			return s, Unsettled, false
		}
	case Placed:
		switch s {
		case Armed, IdentityGiven:
			return IdentityGiven, Unsettled, true
		case Off:
		default:
			return s, Unsettled, false
		}
	case Forked:
		if s == InFlight { // the fork has the block in its history, or will have
			return Done, Unsettled, true
		}
	case SwitchedOff:
		if s == InFlight { // its response is not looked at any more
			return Off, InDoubt, true
		}
		return Off, Unsettled, true
	default:
		return s, Unsettled, false
	}
	return s, Unsettled, true
}

// settle handles the steps that end the flight of a block. A block that was sent in state Done was recall: what
// becomes of it does not change the state.
func (s State) settle(step Step) (State, Outcome, bool) {
	if s != InFlight { // switched off meanwhile, or a process died with nothing in flight
		return s, Unsettled, s == Off || step.Name == Died
	}
	switch {
	case !step.From.canSend():
		return s, Unsettled, false
	case step.Name == Answered && step.Partly:
		return IdentityGiven, Kept, true
	case step.Name == Answered:
		return Done, Kept, true
	case step.From == Done && step.Name == Refused:
		return Done, WasRefused, true
	case step.Name == Cancelled && step.From == Done:
		return Done, WasCancelled, true
	case step.Name == Cancelled:
		return Doubt, WasCancelled, true
	case step.From == Done:
		return Done, InDoubt, true
	case step.Name == Refused && step.From != Doubt:
		return step.From, WasRefused, true
	}
	return Doubt, InDoubt, true
}

// canSend reports whether a block can be sent in this state.
func (s State) canSend() bool {
	_, _, ok := s.On(Step{Name: Sent})
	return ok
}

// withoutBlock is the state of a session whose conversation holds no block.
func (step Step) withoutBlock() State {
	if step.Placed {
		return IdentityGiven
	}
	return Armed
}
