package delegation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
)

// A delegation is named by its id, or by a beginning or an end of it that is its alone.
func TestGet(t *testing.T) {
	l := newLedger(t)
	one, two := l.must(t, robin, want(1)), l.must(t, robin, want(2))
	for name, id := range map[string]string{"01AAAA0000000000000000000B": one.ID, "01AAAA0000000000000000000C": two.ID} {
		if _, err := l.db.Exec(`UPDATE delegations SET id = ? WHERE id = ?`, name, id); err != nil {
			t.Fatal(err)
		}
	}
	for id, wanted := range map[string]string{"01AAAA0000000000000000000B": "B", "00000c": "C", "0000B": "at least 6",
		"01AAAA": "01AAAA0000000000000000000B and 01AAAA0000000000000000000C", "000000": "no delegation", "01aaaa0000000000000000000c": "C"} {
		d, err := l.Get(t.Context(), id)
		if len(wanted) == 1 && (err != nil || !strings.HasSuffix(d.ID, wanted)) ||
			len(wanted) > 1 && (err == nil || !strings.Contains(err.Error(), wanted)) {
			t.Errorf("%s: %s, %v", id, d.ID, err)
		}
	}
}

// The newest come first, so many of them.
func TestList(t *testing.T) {
	l := newLedger(t)
	var made []string
	for i, who := range []Caller{robin, {Key: "acp-wren"}, {}} {
		made = append(made, l.must(t, who, want(i)).ID)
	}
	for limit, wanted := range map[int][]string{-1: {made[2], made[1], made[0]}, 2: {made[2], made[1]}} {
		all, err := l.List(t.Context(), limit)
		var got []string
		for _, d := range all {
			got = append(got, d.ID)
		}
		if diff := cmp.Diff(wanted, got); diff != "" || err != nil {
			t.Errorf("%d: %v\n%s", limit, err, diff)
		}
	}
}

// What a row becomes by each way to end it, and whether its pulse says so.
func TestEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		begun bool
		do    func(l *Ledger, d Delegation) error
		want  Delegation
	}{
		"cancelled in time": {false, func(l *Ledger, d Delegation) error { return l.cancel(t.Context(), d.ID, "why") },
			Delegation{State: Cancelled, Result: Result{Reason: "why"}, Cancel: "why"}},
		"cancelled": {true, func(l *Ledger, d Delegation) error { return l.cancel(t.Context(), d.ID, "why") },
			Delegation{State: Running, Cancel: "why"}},
		"cancelled twice": {true, func(l *Ledger, d Delegation) error {
			return errors.Join(l.cancel(t.Context(), d.ID, "why"), l.cancel(t.Context(), d.ID, "again"))
		}, Delegation{State: Running, Cancel: "why"}},
		"not started": {false, func(l *Ledger, d Delegation) error { return l.endWithout(t.Context(), d, Failed, "why") }, Delegation{State: Failed, Result: Result{Reason: "why"}}},
		"but it began": {true, func(l *Ledger, d Delegation) error {
			d.State, d.Runner = Queued, ""
			return l.endWithout(t.Context(), d, Failed, "why")
		}, Delegation{State: Running}},
		"ended": {true, func(l *Ledger, d Delegation) error {
			return l.End(t.Context(), Delegation{ID: d.ID, Runner: d.Runner, State: Done, Run: Run{Folder: "f", Tree: "t"}, Result: Result{Stop: "end_turn", Branch: "b",
				Answer: "password=hunter2hunter2", Paths: []string{"a"}, Refused: []string{"password=hunter2hunter2"}}})
		}, Delegation{State: Done, Run: Run{Folder: "f", Tree: "t"},
			Result: Result{Stop: "end_turn", Answer: "password=[redacted:password]", Branch: "b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t)
			d := l.must(t, robin, want(1))
			if tt.begun {
				begun, lock := l.begin(t, d.ID)
				defer lock.Release()
				d = begun
			}
			running, err := l.Runners(t.Context())
			if (len(running) == 1) != tt.begun || err != nil {
				t.Errorf("run by %v, %v", running, err)
			}
			before, err := l.Pulse(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.do(l, d); err != nil {
				t.Fatal(err)
			}
			got, err := l.Get(t.Context(), d.ID)
			if err != nil || got.State != tt.want.State || got.Reason != tt.want.Reason || got.Cancel != tt.want.Cancel ||
				got.Stop != tt.want.Stop || got.Answer != tt.want.Answer || got.Branch+got.Folder+got.Tree !=
				tt.want.Branch+tt.want.Folder+tt.want.Tree || got.State.Ended() != !got.Ended.IsZero() {
				t.Errorf("%+v, %v", got, err)
			}
			if strings.Contains(strings.Join(got.Refused, ""), "hunter2") {
				t.Errorf("refused: %q", got.Refused)
			}
			if after, err := l.Pulse(t.Context()); (after != before) != got.State.Ended() || err != nil {
				t.Errorf("pulse %q, then %q, %v", before, after, err)
			}
		})
	}
	l := newLedger(t)
	service := &Service{Ledger: l}
	if err := service.Judge(t.Context(), robin, "nothing", 1, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("the verdict on none: %v", err)
	}
	if err := l.saveProgress(t.Context(), Delegation{ID: "none", Runner: "x"}, Run{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("the progress of none: %v", err)
	}
}

// Who may see a delegation, and judge it when it has ended.
func TestFind(t *testing.T) {
	l := newLedger(t)
	s := &Service{Ledger: l}
	outer, lock := l.begin(t, l.must(t, robin, want(1)).ID)
	r := want(2)
	r.Scope, r.Kept = "proxy/frame/scan.go", "proxy/frame/peek.go"
	inner := l.must(t, Caller{Key: "acp-child", Inside: outer.ID, Cwd: robin.Cwd}, r)
	for _, tt := range []struct {
		name string
		who  Caller
		id   string
		sees bool
	}{
		{"who asked", robin, outer.ID, true},
		{"of its child's", robin, inner.ID, false},
		{"another", Caller{Key: "acp-wren"}, outer.ID, false},
		{"a person", Caller{Person: true}, outer.ID, true},
		{"a child, what it asked", Caller{Key: "acp-child", Inside: outer.ID}, " " + inner.ID + " ", true},
		{"a child in a new session", Caller{Key: "acp-other", Inside: outer.ID}, inner.ID, true},
		{"a child, what it works for", Caller{Key: robin.Key, Inside: outer.ID}, outer.ID, false},
	} {
		if d, err := s.find(t.Context(), tt.who, tt.id); (err == nil) != tt.sees || tt.sees && d.ID != strings.TrimSpace(tt.id) ||
			err != nil && !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	judge := func(who Caller, verdict float64) string {
		if err := s.Judge(t.Context(), who, outer.ID, verdict, "pale"); err != nil {
			return err.Error()
		}
		return ""
	}
	if why := judge(robin, 1); !strings.Contains(why, "still running") {
		t.Errorf("while it runs: %q", why)
	}
	if err := errors.Join(l.End(t.Context(), Delegation{ID: outer.ID, Runner: lock.ID(), State: Done}), lock.Release()); err != nil {
		t.Fatal(err)
	}
	for verdict, why := range map[float64]string{-1.1: "from -1", 1.1: "from -1", -1: "", 1: ""} {
		if got := judge(robin, verdict); (got == "") != (why == "") || !strings.Contains(got, why) {
			t.Errorf("%v: %q", verdict, got)
		}
	}
	if why := judge(Caller{Key: "acp-wren"}, 0); why == "" {
		t.Error("another's verdict counts")
	}
	if d, err := s.Cancel(t.Context(), robin, outer.ID); d.State != Done || err != nil {
		t.Errorf("cancelled at its end: %s, %v", d.State, err)
	}
	d, err := s.Cancel(t.Context(), Caller{Person: true}, inner.ID)
	if d.State != Cancelled || d.Reason != "the user cancelled it" || ForUser(d.Reason) != "cancelled by you" || err != nil {
		t.Errorf("cancelled before its begin: %s, %s, %v", d.State, d.Reason, err)
	}
}

// Who is asked where it is named, or not.
func TestChoose(t *testing.T) {
	s := &Service{Canonical: strings.ToLower, Unbounded: true}
	agents := []Agent{{ID: "codex"}, {ID: "gemini", Status: missing, Fix: "install it"}}
	for name, want := range map[string]string{"": "codex", "Codex": "codex", "gemini": "gemini cannot be started: install it",
		"heron": `unknown agent "heron": use one of codex, or none`} {
		got, err := s.choose(agents, Request{Agent: name}, "")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	if _, err := s.choose(agents[1:], Request{}, ""); err == nil || !strings.Contains(err.Error(), "says why") {
		t.Errorf("of none: %v", err)
	}
}

// What is listed of agents: those that are missing last, with what they do now.
func TestAgents(t *testing.T) {
	l := newLedger(t)
	s := &Service{Ledger: l, Known: func(context.Context) ([]Agent, error) {
		return []Agent{{ID: "gemini", Fix: "install it"}, {ID: "opencode", Session: "s1", ByNpx: true}, {ID: "auggie", ByNpx: true}, {ID: "codex", Capabilities: []string{"docs"}},
			{ID: "claude"}}, nil
	}}
	for i, state := range []State{Done, Failed, Running} {
		r := want(i)
		r.Agent = []string{"codex", "codex", "claude"}[i]
		d, lock := l.begin(t, l.must(t, robin, r).ID)
		defer lock.Release()
		if state == Running {
			continue
		}
		if err := l.End(t.Context(), Delegation{ID: d.ID, Runner: lock.ID(), State: state}); err != nil {
			t.Fatal(err)
		}
	}
	for _, commands := range [][]string{{"plan"}, nil} { // one that says nothing keeps what it said
		if err := l.noteAgent(t.Context(), "codex", acpclient.Agent{}, commands); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Agents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Agent{
		{ID: "auggie", Status: byNpx, ByNpx: true, Capabilities: []string{}},
		{ID: "claude", Status: busy, Capabilities: []string{}},
		{ID: "codex", Status: available, Capabilities: []string{"docs"}, Commands: []string{"plan"}},
		{ID: "opencode", Status: busy, ByNpx: true, Session: "s1", Capabilities: []string{}},
		{ID: "gemini", Status: missing, Fix: "install it", Capabilities: []string{}},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Who waits hears of progress once, and gets the row as it stands when the time is over.
func TestWait(t *testing.T) {
	l := newLedger(t)
	s := &Service{Ledger: l}
	d, lock := l.begin(t, l.must(t, robin, want(1)).ID)
	defer lock.Release()
	if err := l.saveProgress(t.Context(), Delegation{ID: d.ID, Runner: lock.ID()}, Run{Progress: "working"}); err != nil {
		t.Fatal(err)
	}
	var heard []string
	got, err := s.Wait(t.Context(), d.ID, 3*lookEvery, func(d Delegation) { heard = append(heard, d.Progress) })
	if err != nil || got.ID != d.ID || got.State != Running || len(heard) != 1 || heard[0] != "working" {
		t.Errorf("%+v, %v; heard %q", got, err, heard)
	}
	if _, err := s.Wait(t.Context(), "nobody's", time.Minute, nil); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
