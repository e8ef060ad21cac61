package correlation_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

func TestKeys(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s", Key: "k1"})
	check(t, b.rekey(v.ID, "k2"))
	check(t, b.rekey(v.ID, "k3"))
	check(t, b.rekey(v.ID, "k1"))
	if diff := cmp.Diff([]string{"k2", "k3", "k1"}, must(b.Book().Keys(t.Context(), v.ID))(t)); diff != "" {
		t.Error(diff)
	}
	if now := must(b.Get(t.Context(), v.ID))(t); now.Key != "k1" {
		t.Errorf("the current key is %q", now.Key)
	}
	for what, err := range map[string]error{
		"a new key for no session": b.rekey(1<<40, "k"),
		"a context for no session": b.storeContext(1<<40, "k", ""),
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
		want  bool // after a while
		now   bool // and at once
	}{
		{"unused", func(*bench, Session, *Process) {}, true, false},
		{"used", func(b *bench, v Session, p *Process) { b.claim(v.ID, p.ID(), Armed) }, true, true},
		{"ended", func(b *bench, v Session, _ *Process) { check(b.tb, b.Debts().EndKey(b.ctx(), v.Key, "")) }, false, false},
		{"ended, and started again", func(b *bench, v Session, p *Process) {
			check(b.tb, b.Debts().EndKey(b.ctx(), v.Key, ""))
			b.startKey(p.ID(), v.Key)
		}, true, false},
		{"something was said", func(b *bench, v Session, p *Process) { b.turn(v.ID, p.ID(), "hello", "hi") }, false, false},
		{"all is delivered", func(b *bench, v Session, p *Process) {
			b.turn(v.ID, p.ID(), "hello", "hi")
			check(b.tb, p.End(b.ctx(), "ended"))
			d := must(b.Debts().TakeUp(b.ctx()))(b.tb)
			check(b.tb, b.Debts().Delivered(b.ctx(), d, must(b.Debts().Select(b.ctx(), d))(b.tb), ""))
		}, true, true},
		{"something is owed", func(b *bench, v Session, p *Process) {
			b.turn(v.ID, p.ID(), "hello", "hi")
			check(b.tb, p.End(b.ctx(), "ended"))
		}, false, false},
		{"what is owed waits on purpose", func(b *bench, v Session, p *Process) {
			b.turn(v.ID, p.ID(), "hello", "hi")
			check(b.tb, p.End(b.ctx(), "ended"))
			d := must(b.Debts().TakeUp(b.ctx()))(b.tb)
			check(b.tb, b.Debts().Defer(b.ctx(), d, b.clock.Now().Add(24*time.Hour)))
		}, true, true},
		{"held by a living process", func(b *bench, v Session,
			p *Process) {
			b.open(OpenSession{ACPID: v.ACPID, Process: p.ID()})
		}, false, false},
		{"held by a dead process", func(b *bench, v Session, _ *Process) {
			b.open(OpenSession{ACPID: v.ACPID, Process: b.died(ProcessInfo{})})
		}, true, false},
		{"given up by a living process", func(b *bench, v Session, p *Process) {
			b.open(OpenSession{ACPID: v.ACPID, Process: p.ID()})
			check(b.tb, b.rekey(v.ID, "next"))
		}, true, false},
		{"given up, with turns that are not owed yet", func(b *bench, v Session, p *Process) {
			b.open(OpenSession{ACPID: v.ACPID, Process: p.ID()})
			b.turn(v.ID, p.ID(), "hello", "hi")
			check(b.tb, b.rekey(v.ID, "next"))
		}, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			p := b.register(ProcessInfo{Memory: "daemon"})
			v := b.open(OpenSession{ACPID: "s", AgentID: "halyard", Cwd: "/work", Project: "/project"})
			b.open(OpenSession{ACPID: "never started"})
			b.startKey(p.ID(), v.Key)
			tt.after(b, v, p)
			if got := must(b.Debts().StaleKeys(t.Context(), ProcessInfo{Memory: "daemon"}, maxAge))(t); (len(got) == 1) != tt.now {
				t.Errorf("stale at once: %+v, want one: %t", got, tt.now)
			}
			b.clock.Advance(maxAge + time.Second)
			got := must(b.Debts().StaleKeys(t.Context(), ProcessInfo{Memory: "daemon"}, maxAge))(t)
			if (len(got) == 1) != tt.want {
				t.Fatalf("stale keys: %+v, want one: %t", got, tt.want)
			}
			if tt.want && got[0] != (StaleKey{Key: v.Key, AgentID: "halyard", Harness: "claude", Cwd: "/work",
				Project: "/project"}) {
				t.Errorf("the key is %+v", got[0])
			}
			b.clock.Advance(14 * 24 * time.Hour)
			if got := must(b.Debts().StaleKeys(t.Context(), ProcessInfo{Memory: "daemon"}, maxAge))(t); len(got) != 0 {
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
	if n := b.count(`SELECT count(*) FROM session_keys WHERE session = ? AND started > 0`, v.ID); n != 1 {
		t.Errorf("the session has %d keys that were started", n)
	}
	b.clock.Advance(maxAge + time.Second)
	got := must(b.Debts().StaleKeys(t.Context(), ProcessInfo{Memory: "daemon"}, maxAge))(t)
	if diff := cmp.Diff([]StaleKey{{Key: "lost"}}, got); diff != "" {
		t.Error(diff)
	}
	check(t, b.Debts().EndKey(t.Context(), "lost", ""))
	if got := must(b.Debts().StaleKeys(t.Context(), ProcessInfo{Memory: "daemon"}, maxAge))(t); len(got) != 0 {
		t.Errorf("ended, and still stale: %+v", got)
	}
	b.clock.Advance(14 * 24 * time.Hour)
	check(t, b.SweepDead(t.Context(), nil))
	if n := b.count(`SELECT count(*) FROM session_keys WHERE session IS NULL`); n != 0 {
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
		{"auto named", false, 1}, {"off named", false, 0},
	} {
		b := newBench(t)
		mode, named, _ := strings.Cut(tt.memory, " ")
		info := ProcessInfo{Memory: mode, SignetPath: "/signet"}
		p := b.register(ProcessInfo{Memory: mode, SignetPath: "/signet", URL: named})
		b.startKey(p.ID(), b.open(OpenSession{ACPID: "s"}).Key)
		if tt.seen {
			check(t, b.daemonAnswered("/signet", "", ""))
		}
		b.clock.Advance(time.Hour)
		if got := must(b.Debts().StaleKeys(t.Context(), info, time.Minute))(t); len(got) != tt.want {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
}

func TestEndKey(t *testing.T) {
	b := newBench(t)
	v := b.open(OpenSession{ACPID: "s"})
	check(t, b.storeContext(v.ID, v.Key, "x"))
	check(t, b.Debts().EndKey(t.Context(), v.Key, ""))
	if _, _, err := b.TakeContext(t.Context(), v.ID, time.Hour); !errors.Is(err, ErrNotFound) {
		t.Errorf("the context of a key that was ended: %v", err)
	}
}
