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

// An EventName names something that happens to a session's context.
type EventName string

const (
	Sent      EventName = "sent"          // a prompt leaves with a block in front
	Answered  EventName = "answered"      // that prompt has a result, and the harness keeps it
	Refused   EventName = "refused"       // the harness did not take it up, or has forgotten it, or it never left
	Failed    EventName = "failed"        // it has any other error
	Cancelled EventName = "cancelled"     // its turn was cancelled, and nobody knows what the harness keeps of that
	Died      EventName = "died"          // the harness, or the process that holds the session, died in the turn
	Marked    EventName = "replay marked" // a replay of the history shows the block
	// a replay shows a user's turn without the block, or the block is not known
	Clean         EventName = "replay clean"
	AssumedKept   EventName = "assumed kept"    // no replay came, and this harness keeps failed prompts
	Compacted     EventName = "compacted"       // the harness has summed up the conversation
	Cleared       EventName = "cleared"         // the harness has forgotten the conversation
	NothingToTell EventName = "nothing to tell" // the sources have answered, and have nothing for this session
	Placed        EventName = "placed"          // the identity is in the system prompt of a new session
	Forked        EventName = "forked"          // gives the state of the fork; the parent's stays as it is
	SwitchedOff   EventName = "switched off"    // the session wants no context
)

// EventNames are all of them.
var EventNames = []EventName{Sent, Answered, Refused, Failed, Cancelled, Died, Marked, Clean, AssumedKept, Compacted,
	Cleared, NothingToTell, Placed, Forked, SwitchedOff}

// An Event is what happens to a session's context, with what decides where it leads.
type Event struct {
	Name EventName `json:"name"`
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

// ErrIllegalStep is an event in a state in which it cannot happen: a fault of this program, which is logged and changes
// nothing.
var ErrIllegalStep = errors.New("this cannot happen in this state")

// A StepError is an ErrIllegalStep that says which.
type StepError struct {
	State State
	Event EventName
}

func (e *StepError) Error() string {
	return fmt.Sprintf("%q in state %q: %v", e.Event, e.State, ErrIllegalStep)
}
func (e *StepError) Unwrap() error { return ErrIllegalStep }

// On is the one table of a session's states: it returns the state that e leads to, and what became of the block that
// was in flight or in doubt. ok is false where e cannot happen in s; the state is then s. An event that means nothing
// in a state (a compaction of an armed session) leaves it as it is.
func (s State) On(e Event) (next State, became Outcome, ok bool) {
	switch e.Name {
	case Sent:
		switch s {
		case Armed, IdentityGiven, Doubt, Done:
			return InFlight, Sending, true
		}
		return s, Unsettled, false
	case Answered, Refused, Failed, Cancelled, Died:
		return s.settle(e)
	case Marked, AssumedKept:
		switch {
		case s == Doubt && e.Partly:
			return IdentityGiven, Kept, true
		case s == Doubt:
			return Done, Kept, true
		case s == Armed && e.Name == Marked && e.Unknown:
			return Done, Unsettled, true
		}
	case Clean:
		if s == Doubt {
			return e.withoutBlock(), WasRefused, true
		}
	case Compacted:
		switch {
		case s == Done && e.Placed && !e.Whole: // a system prompt outlives it
		case s == Done, s == IdentityGiven:
			return e.withoutBlock(), Unsettled, true
		}
	case Cleared:
		switch s {
		case Done, IdentityGiven:
			return e.withoutBlock(), Unsettled, true
		case Doubt: // settled: there is nothing left of the conversation
			return e.withoutBlock(), WasRefused, true
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

// settle handles the events that end the flight of a block. A block that was sent in state Done was recall: what
// becomes of it does not change the state.
func (s State) settle(e Event) (State, Outcome, bool) {
	if s != InFlight { // switched off meanwhile, or a process died with nothing in flight
		return s, Unsettled, s == Off || e.Name == Died
	}
	switch {
	case !e.From.canSend():
		return s, Unsettled, false
	case e.Name == Answered && e.Partly:
		return IdentityGiven, Kept, true
	case e.Name == Answered:
		return Done, Kept, true
	case e.From == Done && e.Name == Refused:
		return Done, WasRefused, true
	case e.Name == Cancelled && e.From == Done:
		return Done, WasCancelled, true
	case e.Name == Cancelled:
		return Doubt, WasCancelled, true
	case e.From == Done:
		return Done, InDoubt, true
	case e.Name == Refused && e.From != Doubt:
		return e.From, WasRefused, true
	}
	return Doubt, InDoubt, true
}

// canSend reports whether a block can be sent in this state.
func (s State) canSend() bool {
	_, _, ok := s.On(Event{Name: Sent})
	return ok
}

// withoutBlock is the state of a session whose conversation holds no block.
func (e Event) withoutBlock() State {
	if e.Placed {
		return IdentityGiven
	}
	return Armed
}
