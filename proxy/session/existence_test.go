package session

import (
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What the client and this process say of a session stays; the ledger fills in the rest.
func TestAdopt(t *testing.T) {
	stored := correlation.Session{
		ID: 7, Harness: "h", Cwd: "/k", Project: "k", Key: "K", ParentKey: "P", State: correlation.Off,
	}
	var e existence
	e.adopt(stored, false)
	want := memory.Session{Cwd: "/k", Project: "k", Key: "K", ParentKey: "P"}
	if e.who != want || e.row != 7 || e.open.Harness != "h" || e.silence != off {
		t.Errorf("%+v", e)
	}
	own := memory.Session{Cwd: "/own", Project: "own", Key: "own", ParentKey: "own"}
	e = existence{who: own, silence: hidden}
	stored.ParentKey = ""
	e.adopt(stored, true)
	if e.who != own || e.silence != hidden {
		t.Errorf("its own: %+v", e)
	}
}

// A fork has its parent's place and silence, unless it has its own.
func TestForkedExistence(t *testing.T) {
	parent := &Session{exists: existence{row: 3, who: memory.Session{Key: "PK", Cwd: "/p", Project: "p"}}}
	var e existence
	e.fork(parent, correlation.Done)
	want := memory.Session{ParentKey: "PK", Cwd: "/p", Project: "p"}
	if e.who != want || e.open.ForkOf != 3 || e.open.State != correlation.Done || e.silence != heard {
		t.Errorf("%+v", e)
	}
	parent.exists.silence = off
	e.fork(parent, correlation.Done)
	if e.silence != off {
		t.Error("a fork of a silent session speaks")
	}
	own := memory.Session{ParentKey: "own", Cwd: "/own", Project: "own"}
	e = existence{who: own, silence: hidden}
	e.fork(parent, correlation.Done)
	if e.who != own || e.silence != hidden {
		t.Errorf("its own: %+v", e)
	}
}

// Sessions that this process has opened are named by their numbers, others by their rows in the ledger.
func TestOpenedEvent(t *testing.T) {
	opened, unopened := &Session{Number: 4}, &Session{Number: 5}
	opened.exists.events.opened = true
	for _, tt := range []struct {
		name            string
		e               existence
		fork, continues int
		forkOf          int64
	}{
		{"alone", existence{}, 0, 0, 0},
		{"a fork", existence{parent: opened, open: correlation.OpenSession{ForkOf: 9}}, 4, 0, 0},
		{"a fork of one from before", existence{parent: unopened, open: correlation.OpenSession{ForkOf: 9}}, 0, 0, 9},
		{"in place of one that failed", existence{failed: opened}, 0, 4, 0},
		{"of one that is not there", existence{failed: unopened}, 0, 0, 0},
		{"of a stored one", existence{failed: opened, open: correlation.OpenSession{ContinueOf: 8}}, 0, 0, 0},
	} {
		got := tt.e.opened("s1", 6)
		if got.Session != 6 || got.Fork != tt.fork || got.Continues != tt.continues || got.Open.ForkOf != tt.forkOf ||
			got.Open.ACPID != "s1" {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
