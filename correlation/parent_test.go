package correlation_test

import (
	"errors"
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// A process is named before it is registered, and leads to the session that is in a turn.
func TestParent(t *testing.T) {
	b := newBench(t)
	name := NewProcessID()
	p := b.register(ProcessInfo{ID: name})
	if p.ID() != name {
		t.Fatalf("the process is called %q", p.ID())
	}
	is := func(what, parent, cwd, want string) {
		t.Helper()
		got, err := b.Parent(t.Context(), parent, cwd)
		if got != want || (want == "") != errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %q, %v, want %q", what, got, err, want)
		}
	}
	is("nothing opened", name, "/a", "")
	one := b.open(OpenSession{ACPID: "one", Key: "k1", Cwd: "/a", Process: name})
	b.clock.Advance(time.Second)
	two := b.open(OpenSession{ACPID: "two", Key: "k2", Cwd: "/b", Process: name})
	b.open(OpenSession{ACPID: "other", Key: "k3", Cwd: "/a", Process: b.register(ProcessInfo{}).ID()})
	is("nothing said, by folder", name, "/a", "k1")
	is("nothing said", name, "/c", "k2")

	turn := b.openTurn(one.ID, name, "x", "")
	is("one in a turn", name, "/b", "k1")
	b.openTurn(two.ID, name, "y", "")
	is("both, by folder", name, "/a", "k1")
	is("both", name, "/c", "k2")
	b.save(Turn{ID: turn, Ended: b.clock.Now(), Stop: "end_turn"})
	is("the other one", name, "/a", "k2")

	is("a key", "k3", "/b", "k3")
	is("nobody", NewProcessID(), "/a", "")
	is("nothing", "", "/a", "")
}
