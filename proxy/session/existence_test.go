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
	want := memory.Session{Harness: "h", Cwd: "/k", Project: "k", Key: "K", ParentKey: "P"}
	if e.who() != want || e.row != 7 || e.silence != off {
		t.Errorf("%+v", e)
	}
	own := correlation.OpenSession{Harness: "h", Cwd: "/own", Project: "own", Key: "own", ParentKey: "own", AgentID: "a"}
	e = existence{Opened: correlation.Opened{Open: own}, silence: hidden}
	stored.ParentKey = ""
	e.adopt(stored, true)
	if e.Open != own || e.silence != hidden || e.who().AgentID != "a" {
		t.Errorf("its own: %+v", e)
	}
}

// A fork has its parent's place and silence, unless it has its own. A parent that this process may have opened is named
// by its number, others by their rows in the ledger.
func TestForkedExistence(t *testing.T) {
	place := correlation.OpenSession{Key: "PK", Cwd: "/p", Project: "p"}
	own := correlation.OpenSession{Key: "K", Cwd: "/own", Project: "own", ParentKey: "own"}
	for _, tt := range []struct {
		name      string
		number    int // of its parent
		parent, e silence
		own       correlation.OpenSession
		want      memory.Session
		silence   silence
		fork      int
		forkOf    int64
	}{
		{"of its own parent", 4, heard, heard, correlation.OpenSession{}, memory.Session{ParentKey: "PK", Cwd: "/p", Project: "p"}, heard, 4, 0},
		{"with a place of its own", 4, heard, heard, own, memory.Session{Key: "K", ParentKey: "own", Cwd: "/own", Project: "own"}, heard, 4, 0},
		{"of one that is not here", 0, heard, heard, own, memory.Session{Key: "K", ParentKey: "own", Cwd: "/own", Project: "own"}, heard, 0, 3},
		{"of one that is off", 4, off, heard, own, memory.Session{Key: "K", ParentKey: "own", Cwd: "/own", Project: "own"}, off, 4, 0},
		{"of a hidden one", 4, hidden, heard, own, memory.Session{Key: "K", ParentKey: "own", Cwd: "/own", Project: "own"}, off, 0, 3},
		{"hidden itself", 4, off, hidden, own, memory.Session{Key: "K", ParentKey: "own", Cwd: "/own", Project: "own"}, hidden, 4, 0},
	} {
		parent := &Session{exists: existence{Opened: correlation.Opened{Session: tt.number, Open: place}, row: 3, silence: tt.parent}}
		e := existence{Opened: correlation.Opened{Open: tt.own}, silence: tt.e}
		e.fork(parent, correlation.Done)
		if e.who() != tt.want || e.silence != tt.silence || e.Open.State != correlation.Done {
			t.Errorf("%s: %+v", tt.name, e)
		}
		if e.Fork != tt.fork || e.Open.ForkOf != tt.forkOf {
			t.Errorf("%s: forked from number %d, row %d", tt.name, e.Fork, e.Open.ForkOf)
		}
	}
}
