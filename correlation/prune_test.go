package correlation_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// onDisk returns everything that the database's files hold.
func (b *bench) onDisk() string {
	b.tb.Helper()
	var all strings.Builder
	for _, suffix := range []string{"", "-wal"} {
		bytes, err := os.ReadFile(filepath.Join(b.dir, "acp", "sessions.db"+suffix))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			b.tb.Fatal(err)
		}
		all.Write(bytes)
	}
	return all.String()
}

func TestForget(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{Memory: "daemon", Hook: true})
	a := b.open(OpenSession{ACPID: "A", Process: p.ID()})
	check(t, b.storeContext(a.ID, a.Key, "canary context"))
	b.step(a.ID, "", Step{Name: NothingToTell})
	v := b.open(OpenSession{ACPID: "B", New: true, ContinueOf: a.ID, Process: p.ID()})
	fork := b.open(OpenSession{ACPID: "fork", New: true, ForkOf: v.ID, Process: p.ID()})
	other := b.open(OpenSession{ACPID: "other", Process: p.ID()})
	check(t, b.happen(p.ID(), Injected{Session: b.number(p.ID(), v.ID), Injection: Injection{Key: v.Key, Text: "canary ledger"}}))
	var turns []int64
	for range 100 { // enough for pages of their own, in the database and in the log
		turns = append(turns, b.turn(a.ID, p.ID(), strings.Repeat("canary user ", 1000),
			strings.Repeat("canary assistant ", 1000)))
	}
	turns = append(turns, b.turn(v.ID, p.ID(), "canary", "canary"))
	b.turn(fork.ID, p.ID(), "kept", "kept")
	b.turn(other.ID, p.ID(), "kept", "kept")
	check(t, b.close(p.ID(), v.ID))
	b.attempt(b.takeUp())

	var unlearned []int64
	unlearn := func(_ context.Context, _ *sql.Tx, ids []int64) error {
		unlearned = ids
		return nil
	}
	got := must(b.Forget(t.Context(), v.ID, unlearn))(t)
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if err := errors.Join(b.Checkpoint(late), b.Checkpoint(t.Context())); err != nil { // a later one does it
		t.Fatal(err)
	}
	want := Removed{Sessions: []int64{a.ID, v.ID}, Turns: len(turns), Debts: []int64{1, 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	slices.Sort(unlearned)
	if diff := cmp.Diff(turns, unlearned); diff != "" {
		t.Errorf("the index: %s", diff)
	}
	if strings.Contains(b.onDisk(), "canary") {
		t.Error("it is still on disk")
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM sessions": 2, "SELECT count(*) FROM turns": 2, "SELECT count(*) FROM injections": 0,
		"SELECT count(*) FROM debts":                         0,
		"SELECT count(*) FROM sessions WHERE context_at > 0": 0, "SELECT count(*) FROM session_keys": 2,
		"SELECT count(*) FROM attachments WHERE closed = 0": 2,
	} {
		if n := b.count(query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	if _, err := b.Forget(t.Context(), v.ID, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("forgotten twice: %v", err)
	}
}

func TestForgetByRecord(t *testing.T) {
	b := newBench(t)
	for _, o := range []OpenSession{{ACPID: "A", Record: "r"}, {ACPID: "B", Record: "r"},
		{ACPID: "C", Record: "r", Harness: "codex"}, {ACPID: "D"}, {ACPID: "E"}} {
		b.open(o)
	}
	must(b.Forget(t.Context(), must(b.Book().Resolve(t.Context(), "B"))(t).ID, nil))(t)
	if n := b.count("SELECT count(*) FROM sessions WHERE acp_id IN ('C', 'D', 'E')"); n != 3 ||
		b.count("SELECT count(*) FROM sessions") != 3 {
		t.Error("not the sessions of the record alone are gone")
	}
}

// An index that cannot be cleared leaves everything as it was.
func TestForgetIsAllOrNothing(t *testing.T) {
	b := newBench(t)
	v := b.said("s", 1)
	failing := errors.New("no index")
	_, err := b.Forget(t.Context(), v.ID, func(context.Context, *sql.Tx, []int64) error { return failing })
	if !errors.Is(err, failing) || b.count("SELECT count(*) FROM turns") != 1 ||
		b.count("SELECT count(*) FROM sessions") != 1 {
		t.Errorf("err = %v", err)
	}
}

func TestPrune(t *testing.T) {
	const day = 24 * time.Hour
	build := func(t *testing.T) (b *bench, now time.Time) {
		b = newBench(t)
		b.said("owing", 1)
		b.open(OpenSession{ACPID: "held", Process: b.register(ProcessInfo{}).ID()})
		v := b.open(OpenSession{ACPID: "streaming"})
		b.openTurn(v.ID, b.register(ProcessInfo{}).ID(), "hello", "hi")
		b.saidTo("old", 2, ProcessInfo{})
		parent := b.saidTo("parent", 1, ProcessInfo{})
		before := b.saidTo("before", 1, ProcessInfo{})
		forkedOld := b.saidTo("old parent", 1, ProcessInfo{})
		b.open(OpenSession{ACPID: "old fork", ForkOf: forkedOld.ID})
		b.clock.Advance(10 * day)
		b.open(OpenSession{ACPID: "fork", ForkOf: parent.ID})
		b.open(OpenSession{ACPID: "after", New: true, ContinueOf: before.ID})
		b.said("delivered", 1)
		for _, d := range must(b.Debts().Outstanding(t.Context()))(t) {
			if d.Session == must(b.Book().Resolve(t.Context(), "delivered"))(t).ID {
				check(t, b.Debts().Delivered(t.Context(), d, b.attempt(d), ""))
			}
		}
		b.clock.Advance(day)
		b.open(OpenSession{ACPID: "young"})
		return b, b.clock.Now()
	}
	for _, tt := range []struct {
		name    string
		options func(now time.Time) PruneOptions
		want    []string
		turns   int
	}{
		{"no rule", func(time.Time) PruneOptions { return PruneOptions{} }, nil, 0},
		{"by age", func(now time.Time) PruneOptions { return PruneOptions{Before: now.Add(-5 * day)} },
			[]string{"old", "old fork", "old parent"}, 3},
		{"by age, all", func(now time.Time) PruneOptions { return PruneOptions{Before: now.Add(day)} },
			[]string{"after", "before", "delivered", "fork", "old", "old fork", "old parent", "parent", "young"}, 6},
		{"by count", func(time.Time) PruneOptions { return PruneOptions{Keep: 4} },
			[]string{"old", "old fork", "old parent"}, 3},
		{"by count, few", func(time.Time) PruneOptions { return PruneOptions{Keep: 100} }, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, now := build(t)
			o := tt.options(now)
			o.DryRun = true
			dry := must(b.Prune(t.Context(), o))(t)
			before := b.count("SELECT count(*) FROM sessions")
			acp := must(sqlite.Pairs[int64, string](t.Context(), b.db, "SELECT id, acp_id FROM sessions"))(t)
			o.DryRun = false
			var unlearned int
			o.Unlearn = func(_ context.Context, _ *sql.Tx, ids []int64) error {
				unlearned += len(ids)
				return nil
			}
			got := must(b.Prune(t.Context(), o))(t)
			if diff := cmp.Diff(dry, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Removed{}, "Debts")); diff != "" {
				t.Errorf("the dry run said otherwise: %s", diff)
			}
			var names []string
			for _, id := range got.Sessions {
				names = append(names, acp[id])
			}
			slices.Sort(names)
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Error(diff)
			}
			if got.Turns != tt.turns || unlearned != tt.turns {
				t.Errorf("%d turns went, %d from the index, want %d", got.Turns, unlearned, tt.turns)
			}
			if n := b.count("SELECT count(*) FROM sessions"); n != before-len(tt.want) {
				t.Errorf("%d sessions are left of %d", n, before)
			}
		})
	}
}

// Retention takes turns, never such as are still to be delivered or are just being said.
func TestExpire(t *testing.T) {
	b := newBench(t)
	old := b.saidTo("old", 2, ProcessInfo{})
	b.said("owing", 1)
	p := b.register(ProcessInfo{})
	v := b.open(OpenSession{ACPID: "held", Process: p.ID()})
	b.turn(v.ID, p.ID(), "hello", "hi")
	b.clock.Advance(time.Hour)
	b.saidTo("old", 1, ProcessInfo{})
	var unlearned []int64
	n := must(b.Expire(t.Context(), b.clock.Now(), func(_ context.Context, _ *sql.Tx, ids []int64) error {
		unlearned = ids
		return nil
	}))(t)
	if n != 2 || len(unlearned) != 2 {
		t.Errorf("%d turns went, %d from the index, want 2", n, len(unlearned))
	}
	if left := len(must(b.Book().Turns(t.Context(), old.ID))(t)); left != 1 {
		t.Errorf("%d turns are left of the old session, want the young one", left)
	}
	if n := b.count("SELECT count(*) FROM turns"); n != 3 {
		t.Errorf("%d turns are left, want 3", n)
	}
	if n := must(b.Expire(t.Context(), b.clock.Now(), nil))(t); n != 0 {
		t.Errorf("%d more went", n)
	}
}

// A prompt waits for no more than a few turns to go, however many are old.
func TestExpireFewAtOnce(t *testing.T) {
	b := newBench(t)
	const turns = 25
	b.saidTo("old", turns, ProcessInfo{})
	b.clock.Advance(time.Hour)
	most, gone := 0, 0
	n := must(b.Expire(t.Context(), b.clock.Now(), func(_ context.Context, _ *sql.Tx, ids []int64) error {
		most, gone = max(most, len(ids)), gone+len(ids)
		return nil
	}))(t)
	if n != turns || gone != turns || most > 10 {
		t.Errorf("%d turns went, %d from the index, up to %d in one transaction; want %d, 10 at a time", n, gone,
			most, turns)
	}
}
