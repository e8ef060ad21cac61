package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// record returns which events can be appended now. A session's first event is Opened: those from before it wait.
func (e *entry) record(what ...correlation.Event) []correlation.Event {
	if !e.opened {
		e.deferred = append(e.deferred, what...)
		return nil
	}
	e.recorded += len(what)
	return what
}

// drop removes the context that is stored, if its event still waits.
func (e *entry) drop() {
	e.deferred = slices.DeleteFunc(e.deferred, func(e correlation.Event) bool {
		_, stored := e.(correlation.ContextStored)
		return stored
	})
}

// inLedger reports whether the ledger had the session when last asked, or has events of it.
func (e *existence) inLedger() bool { return e.row != 0 || e.events.folded > 0 }

// adopt takes over what the ledger has of the session. keep says that its key is in use.
func (e *existence) adopt(known correlation.Session, keep bool) {
	e.row, e.open.Harness = known.ID, known.Harness
	if e.who.Cwd == "" {
		e.who.Cwd, e.who.Project = known.Cwd, known.Project
	}
	if !keep {
		e.who.Key = known.Key
	}
	if known.State == correlation.Off && e.silence == heard {
		e.silence = off
	}
	if known.ParentKey != "" {
		e.who.ParentKey = known.ParentKey
	}
}

// fork takes over what a fork has from its parent.
func (e *existence) fork(parent *Session, state correlation.State) {
	from := &parent.exists
	e.open.ForkOf, e.open.State, e.parent = from.row, state, parent
	if from.silence != heard && e.silence == heard {
		e.silence = off
	}
	if e.who.ParentKey == "" {
		e.who.ParentKey = from.who.Key
	}
	if e.who.Cwd == "" {
		e.who.Cwd, e.who.Project = from.who.Cwd, from.who.Project
	}
}

// opened returns the event that opens the session in the file. A parent or continued that this process has opened too
// is named by its number, as the ledger may not have a row of it yet.
func (e *existence) opened(id string, number int) correlation.Opened {
	o := e.open
	o.Key, o.ACPID = e.who.Key, id
	event := correlation.Opened{Session: number, Open: o}
	if p := e.parent; p != nil && p.exists.events.opened {
		event.Fork, event.Open.ForkOf = p.Number, 0
	}
	if p := e.failed; p != nil && p.exists.events.opened && o.ContinueOf == 0 {
		event.Continues = p.Number
	}
	return event
}
