package correlation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
	b.step(first.ID, p.ID(), Event{Name: Told})
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
	if got := must(b.Get(t.Context(), old.ID))(t); got.Replaced.IsZero() ||
		len(must(b.Turns(t.Context(), old.ID))(t)) != 1 {
		t.Error("the old session was not kept")
	}
}

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
			if !first.Started.Equal(ours.Started) || ours.Key != "theirs" || !ours.Replaced.IsZero() {
				t.Errorf("it was %+v and is %+v", first, ours)
			}
			if keys := must(b.Keys(t.Context(), ours.ID))(t); len(keys) != 2 || keys[0].Key != "ours" {
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
		if n := len(must(b.Turns(t.Context(), fork.ID))(t)); n != 0 {
			t.Errorf("the fork has %d turns", n)
		}
		if diff := cmp.Diff(b.outcomes(parent.ID), b.outcomes(fork.ID)); diff != "" {
			t.Errorf("the ledger of the fork lacks its parent's: %s", diff)
		}
	}
	if _, err := b.Open(t.Context(), OpenSession{ACPID: "x", ForkOf: 1 << 40}); !errors.Is(err, ErrNotFound) {
		t.Errorf("fork of an unknown session: %v", err)
	}
}

// acpx loads A, fails, and makes B in its place.
func TestOpenContinue(t *testing.T) {
	for _, tt := range []struct {
		name      string
		used      bool
		key       string
		inherits  bool
		wantStore bool
	}{
		{name: "unused context", inherits: true, wantStore: true},
		{name: "used context", used: true},
		{name: "key of the caller's", key: "mine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			p := b.register(ProcessInfo{})
			a := b.open(OpenSession{ACPID: "A", Record: "rec", Process: p.ID()})
			check(t, b.SaveContext(t.Context(), a.ID, a.Key, []byte("ctx"), b.clock.Now()))
			if tt.used {
				b.claim(a.ID, p.ID(), Armed)
				b.step(a.ID, p.ID(), Event{Name: Answered})
			}
			b.turn(a.ID, p.ID(), "hello", "hi")
			v := b.open(OpenSession{ACPID: "B", New: true, ContinueOf: a.ID, Key: tt.key})
			if v.State != Armed || v.Record != "rec" || v.ContinueOf != a.ID {
				t.Errorf("B is %+v", v)
			}
			if got := v.Key == a.Key; got != tt.inherits {
				t.Errorf("B has the key of A: %t, want %t", got, tt.inherits)
			}
			payload, key, err := b.TakeContext(t.Context(), v.ID, time.Minute)
			if tt.wantStore && (err != nil || string(payload) != "ctx" || key != a.Key) {
				t.Errorf("stored context: %q %q %v", payload, key, err)
			}
			if !tt.wantStore && !errors.Is(err, ErrNotFound) {
				t.Errorf("stored context: %q %v, want none", payload, err)
			}
			if n := len(must(b.Turns(t.Context(), v.ID))(t)); n != 1 {
				t.Errorf("B has %d turns, want A's", n)
			}
			if first := must(b.FirstPrompt(t.Context(), v.ID))(t); first != "hello" {
				t.Errorf("first prompt %q", first)
			}
			if diff := cmp.Diff(b.outcomes(a.ID), b.outcomes(v.ID)); diff != "" {
				t.Errorf("B's ledger lacks A's: %s", diff)
			}
			keys := must(b.Keys(t.Context(), v.ID))(t)
			if len(keys) != 1 || keys[0].Key != v.Key {
				t.Errorf("B's keys are %+v", keys)
			}
		})
	}
	b := newBench(t)
	if _, err := b.Open(t.Context(), OpenSession{ACPID: "x", ContinueOf: 1 << 40}); !errors.Is(err, ErrNotFound) {
		t.Errorf("in place of an unknown session: %v", err)
	}
}

func TestFind(t *testing.T) {
	b := newBench(t)
	const long = "0123456789abcdef" // 16
	one := b.open(OpenSession{Harness: "claude", ACPID: long})
	short := b.open(OpenSession{Harness: "claude", ACPID: long[:15]})
	double := b.open(OpenSession{Harness: "claude", ACPID: "double " + long})
	b.open(OpenSession{Harness: "codex", ACPID: "double " + long})
	wide := b.open(OpenSession{Harness: "claude", ACPID: strings.Repeat("é", 15)})
	for _, tt := range []struct {
		name, harness, id string
		want              int64
	}{
		{"by both", "claude", long, one.ID},
		{"by a long id alone", "other", long, one.ID},
		{"short", "claude", short.ACPID, short.ID},
		{"by a short id alone", "other", short.ACPID, 0},
		{"fifteen characters in thirty bytes", "other", wide.ACPID, 0},
		{"not unique, with its harness", "claude", double.ACPID, double.ID},
		{"not unique", "other", double.ACPID, 0},
		{"unknown", "claude", "nothing", 0},
		{"empty", "claude", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := b.Find(t.Context(), tt.harness, tt.id)
			if tt.want == 0 {
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil || got.ID != tt.want {
				t.Errorf("got %d, %v, want %d", got.ID, err, tt.want)
			}
		})
	}
}

func TestOddIDs(t *testing.T) {
	b := newBench(t)
	for _, id := range []string{
		strings.Repeat("x", 1<<20), strings.Repeat("x", 1<<20) +
			"y", "'; DROP TABLE sessions; --", "a\x00b", "a", "\x1b[31m\n", "\xff\xfe", "%_", "",
	} {
		v := b.open(OpenSession{ACPID: id, Record: id})
		if got, err := b.Find(t.Context(), "claude", id); err != nil || got.ID != v.ID {
			t.Errorf("%.20q: found %d, %v", id, got.ID, err)
		}
	}
	if n := b.count("SELECT count(*) FROM sessions"); n != 9 {
		t.Errorf("%d sessions, want 9", n)
	}
}

func TestFindByRecord(t *testing.T) {
	b := newBench(t)
	b.open(OpenSession{ACPID: "none"})
	b.open(OpenSession{ACPID: "A", Record: "rec"})
	v := b.open(OpenSession{ACPID: "B"})
	check(t, b.SetRecord(t.Context(), v.ID, "rec"))
	if got := must(b.FindByRecord(t.Context(), "rec"))(t); got.ID != v.ID {
		t.Errorf("found %q, want the newest", got.ACPID)
	}
	for _, record := range []string{"", "other"} {
		if _, err := b.FindByRecord(t.Context(), record); !errors.Is(err, ErrNotFound) {
			t.Errorf("record %q: %v", record, err)
		}
	}
	if err := b.SetRecord(t.Context(), 1<<40, "rec"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the record of no session: %v", err)
	}
}

func TestResolve(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	a := b.open(OpenSession{ACPID: "aaaa-1", Record: "aaaa-1", Key: "key-a"})
	b.turn(a.ID, p.ID(), "hello", "hi")
	b.step(a.ID, "", Event{Name: Told})
	next := b.open(OpenSession{ACPID: "bbbb-2", ContinueOf: a.ID, Key: "key-b", New: true, Process: p.ID()})
	check(t, b.Rekey(t.Context(), next.ID, "second-key"))
	other := b.open(OpenSession{ACPID: "bbcc-3", Key: "key-c"})
	first := b.in(Done, "session-1", p.ID()) // of a harness that counts from 1 in each process
	second := b.open(OpenSession{ACPID: "session-1", New: true})
	for _, tt := range []struct {
		name string
		want int64 // 0: not found, -1: ambiguous
	}{
		{"bbbb-2", next.ID},
		{"aaaa-1", next.ID}, // it went on as bbbb-2
		{"key-a", next.ID},
		{"key-b", next.ID},
		{"second-key", next.ID},
		{"second", next.ID},
		{"aa", next.ID},
		{"bbb", next.ID},
		{"bbcc-3", other.ID},
		{"bbc", other.ID},
		{"key-c", other.ID},
		{"session-1", second.ID},
		{"session", second.ID},
		{first.Key, first.ID},
		{first.Key[:len(first.Key)-1], first.ID},
		{"bb", -1},
		{"key", -1},
		{"%", 0},
		{"_bbb", 0},
		{"", 0},
		{"AAAA-1", 0},
	} {
		got, err := b.Resolve(t.Context(), tt.name)
		switch {
		case tt.want == 0 && !errors.Is(err, ErrNotFound), tt.want < 0 && !errors.Is(err, ErrAmbiguous), tt.want > 0 &&
			err != nil:
			t.Errorf("%q: %v", tt.name, err)
		case tt.want > 0 && got.ID != tt.want:
			t.Errorf("%q is session %d, want %d", tt.name, got.ID, tt.want)
		}
	}
	if got := must(b.Resolve(t.Context(), "aaaa-1"))(t); got.Turns != 1 || !got.Live {
		t.Errorf("%d turns, live %t", got.Turns, got.Live)
	}
}

func TestSessions(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	for i := range 3 {
		b.clock.Advance(time.Second)
		b.open(OpenSession{ACPID: fmt.Sprint(i)})
	}
	b.clock.Advance(time.Second)
	v := b.open(OpenSession{ACPID: "0", Process: p.ID()})
	b.turn(v.ID, p.ID(), "hello", "hi")
	b.open(OpenSession{ACPID: "2", Process: b.died(ProcessInfo{})})
	type row struct {
		ACPID string
		Live  bool
		Turns int
	}
	rows := func(limit int) (all []row) {
		for _, v := range must(b.Sessions(t.Context(), limit))(t) {
			all = append(all, row{v.ACPID, v.Live, v.Turns})
		}
		return all
	}
	want := []row{{"2", false, 0}, {"0", true, 1}, {"1", false, 0}}
	if diff := cmp.Diff(want, rows(0), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:2], rows(2)); diff != "" {
		t.Error(diff)
	}
	count := func() [2]int {
		all, live, err := b.Count(t.Context())
		check(t, err)
		return [2]int{all, live}
	}
	if got := count(); got != [2]int{3, 1} {
		t.Errorf("%d sessions and how many are live, want 3 and 1", got)
	}
	check(t, p.End(t.Context(), "eof"))
	if got := rows(0); got[1].Live {
		t.Error("live after its process ended")
	}
	if got := count(); got != [2]int{3, 0} {
		t.Errorf("%d sessions and how many are live once its process has ended, want 3 and 0", got)
	}
}

func TestKeys(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s", Key: "k1"})
	check(t, b.Rekey(t.Context(), v.ID, "k2"))
	check(t, b.Rekey(t.Context(), v.ID, "k3"))
	check(t, b.Rekey(t.Context(), v.ID, "k1"))
	var got []string
	for _, k := range must(b.Keys(t.Context(), v.ID))(t) {
		got = append(got, k.Key)
	}
	if diff := cmp.Diff([]string{"k2", "k3", "k1"}, got); diff != "" {
		t.Error(diff)
	}
	if now := must(b.Get(t.Context(), v.ID))(t); now.Key != "k1" {
		t.Errorf("the current key is %q", now.Key)
	}
	for what, err := range map[string]error{
		"a new key for no session": b.Rekey(t.Context(), 1<<40, "k"),
		"a context for no session": b.SaveContext(t.Context(), 1<<40, "k", nil, b.clock.Now()),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if one, other := NewKey(), NewKey(); one == other {
		t.Error("two keys are the same")
	}
}

func TestStaleKeys(t *testing.T) {
	const maxAge = 15 * time.Minute
	for _, tt := range []struct {
		name  string
		after func(b *bench, v Session, p *Process)
		want  bool
	}{
		{"unused", func(*bench, Session, *Process) {}, true},
		{"used", func(b *bench, v Session, p *Process) { b.claim(v.ID, p.ID(), Armed) }, false},
		{"ended", func(b *bench, v Session, _ *Process) { must(b.EndKey(b.ctx(), v.Key))(b.tb) }, false},
		{"something was said", func(b *bench, v Session, p *Process) { b.turn(v.ID, p.ID(), "hello", "hi") }, false},
		{"held by a living process", func(b *bench, v Session,
			p *Process) {
			b.open(OpenSession{ACPID: v.ACPID, Process: p.ID()})
		}, false},
		{"held by a dead process", func(b *bench, v Session, _ *Process) {
			b.open(OpenSession{ACPID: v.ACPID, Process: b.died(ProcessInfo{})})
		}, true},
		{"given up by a living process", func(b *bench, v Session, p *Process) {
			b.open(OpenSession{ACPID: v.ACPID, Process: p.ID()})
			check(b.tb, b.Rekey(b.ctx(), v.ID, "next"))
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			p := b.register(ProcessInfo{Memory: "daemon"})
			v := b.open(OpenSession{ACPID: "s", AgentID: "halyard", Cwd: "/work"})
			b.open(OpenSession{ACPID: "never started"})
			b.startKey(p.ID(), v.Key)
			tt.after(b, v, p)
			if got := must(p.StaleKeys(t.Context(), maxAge))(t); len(got) != 0 {
				t.Errorf("stale at once: %+v", got)
			}
			b.clock.Advance(maxAge + time.Second)
			got := must(p.StaleKeys(t.Context(), maxAge))(t)
			if (len(got) == 1) != tt.want {
				t.Fatalf("stale keys: %+v, want one: %t", got, tt.want)
			}
			if tt.want && got[0] != (StaleKey{Key: v.Key, AgentID: "halyard", Cwd: "/work"}) {
				t.Errorf("the key is %+v", got[0])
			}
			b.clock.Advance(14 * 24 * time.Hour)
			if got := must(p.StaleKeys(t.Context(), maxAge))(t); len(got) != 0 {
				t.Errorf("not given up: %+v", got)
			}
		})
	}
}

// A key whose session has no row is stale once its process is gone, and is not where a session has come for it.
func TestStaleKeysWithoutSession(t *testing.T) {
	const maxAge = 15 * time.Minute
	b := newBench(t)
	p := b.register(ProcessInfo{Memory: "daemon"})
	dead := b.died(ProcessInfo{})
	b.startKey(p.ID(), "waiting for its session")
	b.startKey(dead, "lost")
	b.startKey(dead, "of a session")
	v := b.open(OpenSession{ACPID: "s", Key: "of a session", Process: p.ID()})
	if keys := must(b.Keys(t.Context(), v.ID))(t); len(keys) != 1 || keys[0].Started.IsZero() {
		t.Errorf("the session's keys: %+v", keys)
	}
	b.clock.Advance(maxAge + time.Second)
	got := must(p.StaleKeys(t.Context(), maxAge))(t)
	if diff := cmp.Diff([]StaleKey{{Key: "lost"}}, got); diff != "" {
		t.Error(diff)
	}
	if !must(b.EndKey(t.Context(), "lost"))(t) || must(b.EndKey(t.Context(), "lost"))(t) {
		t.Error("not the first caller alone is told to send a session-end")
	}
	if got := must(p.StaleKeys(t.Context(), maxAge))(t); len(got) != 0 {
		t.Errorf("ended, and still stale: %+v", got)
	}
	b.clock.Advance(14 * 24 * time.Hour)
	must(b.SweepDead(t.Context(), nil))(t)
	if n := b.count(`SELECT count(*) FROM started_keys`); n != 0 {
		t.Errorf("%d starts are kept for ever", n)
	}
}

// Keys are ended only where there is a daemon that may know them.
func TestStaleKeysByMode(t *testing.T) {
	for _, tt := range []struct {
		memory string
		seen   bool
		want   int
	}{
		{"daemon", false, 1}, {"auto", true, 1}, {"auto", false, 0}, {"embedded", true, 0}, {"off", true, 0},
	} {
		b := newBench(t)
		p := b.register(ProcessInfo{Memory: tt.memory, SignetPath: "/signet"})
		b.startKey(p.ID(), b.open(OpenSession{ACPID: "s"}).Key)
		if tt.seen {
			check(t, b.SawDaemon(t.Context(), "/signet", "", ""))
		}
		b.clock.Advance(time.Hour)
		if got := must(p.StaleKeys(t.Context(), time.Minute))(t); len(got) != tt.want {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
}

func TestEndKey(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s"})
	check(t, b.SaveContext(t.Context(), v.ID, v.Key, []byte("x"), b.clock.Now()))
	if !must(b.EndKey(t.Context(), v.Key))(t) || must(b.EndKey(t.Context(), v.Key))(t) {
		t.Error("not the first caller alone is told to send a session-end")
	}
	if _, _, err := b.TakeContext(t.Context(), v.ID, time.Hour); !errors.Is(err, ErrNotFound) {
		t.Errorf("the context of a key that was ended: %v", err)
	}
}

func TestTakeContext(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s"})
	save := func(text string) { check(t, b.SaveContext(t.Context(), v.ID, "k", []byte(text), b.clock.Now())) }
	save("old")
	save("")
	b.clock.Advance(time.Minute)
	if payload, key, err := b.TakeContext(t.Context(), v.ID, time.Minute); err != nil || payload == nil ||
		len(payload) != 0 || key != "k" {
		t.Errorf("%q %q %v, want the newer, empty one", payload, key, err)
	}
	if _, _, err := b.TakeContext(t.Context(), v.ID, time.Minute); !errors.Is(err, ErrNotFound) {
		t.Errorf("taken twice: %v", err)
	}
	save("x")
	b.clock.Advance(time.Minute + time.Millisecond)
	for range 2 {
		if _, _, err := b.TakeContext(t.Context(), v.ID, time.Minute); !errors.Is(err, ErrNotFound) {
			t.Errorf("too old: %v", err)
		}
	}
	if n := b.count("SELECT count(*) FROM stored_contexts"); n != 0 {
		t.Error("one that is too old was kept")
	}
}

func TestDropContexts(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"old", "young"} {
		v := b.open(OpenSession{ACPID: name})
		check(t, b.SaveContext(t.Context(), v.ID, v.Key, []byte(name), b.clock.Now()))
		b.clock.Advance(time.Minute)
	}
	check(t, b.DropContexts(t.Context(), 90*time.Second))
	if n := b.count("SELECT count(*) FROM stored_contexts WHERE payload = CAST('young' AS BLOB)"); n != 1 ||
		b.count("SELECT count(*) FROM stored_contexts") != 1 {
		t.Error("not the old one went")
	}
}
