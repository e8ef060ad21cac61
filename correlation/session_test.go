package correlation_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

func TestOpenKnown(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	first := b.open(OpenSession{
		Harness: "claude", ACPID: "s1", Record: "r1", Cwd: "/x", Project: "/x", AgentID: "a", Client: "acpx",
		ClientVersion: "1",
		Agent:         "claude", AgentVersion: "2", Key: "k1", Process: p.ID(),
	})
	want := Session{
		ID: first.ID, Harness: "claude", ACPID: "s1", Record: "r1", Cwd: "/x", Project: "/x", AgentID: "a",
		Client: "acpx", ClientVersion: "1",
		Agent: "claude", AgentVersion: "2", Key: "k1", State: Armed, Started: b.clock.Now(), LastActive: b.clock.Now(),
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Fatal(diff)
	}
	b.step(first.ID, p.ID(), Step{Name: NothingToTell})
	b.clock.Advance(time.Minute)
	again := b.another().open(OpenSession{Harness: "claude", ACPID: "s1", Cwd: "/y", Client: "zed", Key: "k2",
		State: Armed})
	want.Cwd, want.Client, want.State, want.LastActive = "/y", "zed", Done, b.clock.Now()
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("opened again: %s", diff)
	}
	if other := b.open(OpenSession{Harness: "codex", ACPID: "s1"}); other.ID == first.ID || other.State != Armed {
		t.Error("another harness's session of the same name is the same session")
	}
}

// Some harnesses count their sessions from 1 in each process.
func TestOpenNewOfTheSameName(t *testing.T) {
	b := newBench(t)
	old := b.in(Done, "1", "")
	b.turn(old.ID, "p", "hello", "hi")
	young := b.open(OpenSession{ACPID: "1", New: true})
	if young.ID == old.ID || young.State != Armed || young.Key == old.Key {
		t.Errorf("the new session is %+v", young)
	}
	if got := must(b.Find(t.Context(), "claude", "1"))(t); got.ID != young.ID {
		t.Error("the name still means the old session")
	}
	if b.count(replaced, old.ID) != 1 || len(must(b.Book().Turns(t.Context(), old.ID))(t)) != 1 {
		t.Error("the old session was not kept")
	}
}

// replaced counts a session whose id the harness has given to another.
const replaced = `SELECT count(*) FROM sessions WHERE id = ? AND replaced > 0`

// A session may be loaded by one process before what another one wrote down of its making is read: it is one session,
// with what has happened to it since. One that was there before, or that was made too, is another.
func TestOpenMadeAndLoaded(t *testing.T) {
	for name, c := range map[string]struct {
		other OpenSession // what came into the database first,
		later bool        // after ours was made
		same  bool
	}{
		"loaded":         {OpenSession{ACPID: "1", Key: "theirs"}, true, true},
		"loaded before":  {OpenSession{ACPID: "1", Key: "theirs"}, false, false},
		"made":           {OpenSession{ACPID: "1", Key: "theirs", New: true}, true, false},
		"made, and seen": {OpenSession{ACPID: "1", Key: "theirs", New: true, Made: time.Unix(1, 0)}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			parent := b.in(Done, "parent", "")
			made := b.clock.Now().Add(time.Second)
			if c.later {
				b.clock.Advance(time.Minute)
			}
			first := b.open(c.other)
			b.clock.Advance(time.Minute)
			ours := b.open(OpenSession{ACPID: "1", Key: "ours", New: true, Made: made, ForkOf: parent.ID, Record: "r"})
			if same := ours.ID == first.ID; same != c.same {
				t.Fatalf("the same: %t, want %t", same, c.same)
			}
			if ours.State != Done || ours.ForkOf != parent.ID || ours.ParentKey != parent.Key || ours.Record != "r" {
				t.Errorf("it is %+v", ours)
			}
			if !c.same {
				return
			}
			if !first.Started.Equal(ours.Started) || ours.Key != "theirs" || b.count(replaced, ours.ID) > 0 {
				t.Errorf("it was %+v and is %+v", first, ours)
			}
			if keys := must(b.Book().Keys(t.Context(), ours.ID))(t); len(keys) != 2 || keys[0] != "ours" {
				t.Errorf("its keys are %+v", keys)
			}
		})
	}
}

// What has happened to a session stays when it turns out where it was made.
func TestOpenMadeWhileInFlight(t *testing.T) {
	b := newBench(t)
	made := b.clock.Now()
	loaded := b.in(InFlight, "1", b.register(ProcessInfo{}).ID())
	ours := b.open(OpenSession{ACPID: "1", Key: "ours", New: true, Made: made})
	if ours.ID != loaded.ID || ours.State != InFlight {
		t.Errorf("it was %+v and is %+v", loaded, ours)
	}
}

func TestOpenFork(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	for have, want := range map[State]State{Armed: Armed, IdentityGiven: IdentityGiven, InFlight: Done, Doubt: Doubt,
		Done: Done, Off: Off} {
		parent := b.in(have, "parent "+string(have), p.ID())
		b.turn(parent.ID, p.ID(), "hello", "hi")
		fork := b.open(OpenSession{ACPID: "fork " + string(have), New: true, ForkOf: parent.ID})
		if fork.State != want {
			t.Errorf("the fork of a session %s is %s, want %s", have, fork.State, want)
		}
		if fork.Key == parent.Key || fork.ParentKey != parent.Key || fork.ForkOf != parent.ID {
			t.Errorf("the fork is %+v", fork)
		}
		if n := len(must(b.Book().Turns(t.Context(), fork.ID))(t)); n != 0 {
			t.Errorf("the fork has %d turns", n)
		}
		if diff := cmp.Diff(b.outcomes(parent.ID), b.outcomes(fork.ID)); diff != "" {
			t.Errorf("the ledger of the fork lacks its parent's: %s", diff)
		}
	}
	if v := b.open(OpenSession{ACPID: "x", ForkOf: 1 << 40}); v.ForkOf != 0 {
		t.Errorf("fork of a forgotten session: %+v", v)
	}
}

// acpx loads A, fails, and makes B in its place.
func TestOpenContinue(t *testing.T) {
	for _, tt := range []struct {
		name      string
		used      bool
		key       string
		continues bool
		wantStore bool
	}{
		{name: "unused context", continues: true, wantStore: true},
		{name: "used context", used: true},
		{name: "key of the caller's", key: "mine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			p := b.register(ProcessInfo{})
			a := b.open(OpenSession{ACPID: "A", Record: "rec", Process: p.ID()})
			check(t, b.storeContext(a.ID, a.Key, "ctx"))
			if tt.used {
				b.claim(a.ID, p.ID(), Armed)
				b.step(a.ID, p.ID(), Step{Name: Answered})
			}
			b.turn(a.ID, p.ID(), "hello", "hi")
			v := b.open(OpenSession{ACPID: "B", New: true, ContinueOf: a.ID, Key: tt.key})
			if v.State != Armed || v.Record != "rec" || v.ContinueOf != a.ID {
				t.Errorf("B is %+v", v)
			}
			if got := v.Key == a.Key; got != tt.continues {
				t.Errorf("B has the key of A: %t, want %t", got, tt.continues)
			}
			payload, key, err := b.TakeContext(t.Context(), v.ID, time.Minute)
			if tt.wantStore && (err != nil || string(payload) != "ctx" || key != a.Key) {
				t.Errorf("stored context: %q %q %v", payload, key, err)
			}
			if !tt.wantStore && !errors.Is(err, ErrNotFound) {
				t.Errorf("stored context: %q %v, want none", payload, err)
			}
			if n := len(must(b.Book().Turns(t.Context(), v.ID))(t)); n != 1 {
				t.Errorf("B has %d turns, want A's", n)
			}
			if first := must(b.FirstPrompt(t.Context(), v.ID))(t); first != "hello" {
				t.Errorf("first prompt %q", first)
			}
			if diff := cmp.Diff(b.outcomes(a.ID), b.outcomes(v.ID)); diff != "" {
				t.Errorf("B's ledger lacks A's: %s", diff)
			}
			keys := must(b.Book().Keys(t.Context(), v.ID))(t)
			if len(keys) != 1 || keys[0] != v.Key {
				t.Errorf("B's keys are %+v", keys)
			}
		})
	}
	b := newBench(t)
	if v := b.open(OpenSession{ACPID: "x", ContinueOf: 1 << 40}); v.ContinueOf != 0 {
		t.Errorf("in place of a forgotten session: %+v", v)
	}
}
