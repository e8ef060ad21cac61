package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// An existence is whether and as what a session exists: for the client and the harness, in the ledger, and in the file
// of events.
type existence struct {
	who      memory.Session
	open     correlation.OpenSession // what the event that it was opened says
	live     bool                    // the harness has opened it
	silence  silence
	mode     string          // the harness's, as it said last; "" is not known
	early    string          // the id in updates that came before the response that names it
	commands map[string]bool // that the harness takes in it
	releases []func()        // to be called once it has gone

	ledger    ledger
	looks     int      // how often the ledger was asked because the client has opened it
	row       int64    // in the ledger; 0: it had none when it was asked
	continued int64    // the row of a session whose stored context this one may use; 0: none
	parent    *Session // that it was forked from
	failed    *Session // that it continues, because its load failed

	events entry
}

// A silence is how little is done with a session.
type silence uint8

const (
	heard  silence = iota
	off            // nothing is inserted, and nothing recorded but that it is off
	hidden         // likewise, and no event of it is recorded: its project is opted out, or it was forgotten
)

// A ledger is what the ledger has said about a session.
type ledger uint8

const (
	asked   ledger = iota // it has not answered
	known                 // it has
	unknown               // likewise: it does not have it, though the client has opened it by its id
	stale                 // it failed to, or another process has changed the session: the next prompt asks again
	none                  // there is no ledger: the session cannot be claimed in this process
)

// An entry is what the file of events has of a session.
type entry struct {
	opened   bool             // its Opened event is there
	deferred []eventlog.Event // to be appended behind that
	recorded int              // how many events of it were appended
	folded   int              // of these, how many the ledger is known to have
}

// record returns which events can be appended now. A session's first event is Opened: those from before it wait.
func (e *entry) record(what ...eventlog.Event) []eventlog.Event {
	if !e.opened {
		e.deferred = append(e.deferred, what...)
		return nil
	}
	e.recorded += len(what)
	return what
}

// drop removes the context that is stored, if its event still waits.
func (e *entry) drop() {
	e.deferred = slices.DeleteFunc(e.deferred, func(e eventlog.Event) bool {
		_, stored := e.(eventlog.ContextStored)
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
func (e *existence) opened(id string, number int) eventlog.Opened {
	o := e.open
	o.Key, o.ACPID = e.who.Key, id
	event := eventlog.Opened{Session: number, Open: o}
	if p := e.parent; p != nil && p.exists.events.opened {
		event.Fork, event.Open.ForkOf = p.Number, 0
	}
	if p := e.failed; p != nil && p.exists.events.opened && o.ContinueOf == 0 {
		event.Continues = p.Number
	}
	return event
}
