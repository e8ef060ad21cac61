package correlation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// A session that goes on while it is being delivered owes again what the delivery did not hold.
func TestOwedAnew(t *testing.T) {
	b := newBench(t)
	v := b.said("s", 1)
	d := b.takeUp()
	post := b.attempt(d)
	b.said("s", 2)
	check(t, b.Debts().Delivered(t.Context(), d, post, "one"))
	b.said("s", 1)
	d = b.takeUp()
	post = b.attempt(d)
	if len(post.Turns) != 3 || post.First {
		t.Errorf("%d turns, first %v, want 3", len(post.Turns), post.First)
	}
	check(t, b.Debts().Delivered(t.Context(), d, post, "two"))
	b.nothingDue()

	b.said("s", 1)
	d = b.takeUp()
	b.said("s", 1)
	check(t, b.Debts().Defer(t.Context(), d, b.clock.Now().Add(time.Hour)))
	d = b.takeUp() // due at once: there is more now
	b.said("s", 0)
	check(t, b.Debts().Delivered(t.Context(), d, b.attempt(d), "three"))
	b.nothingDue() // a process without a prompt owed nothing
	if n := len(must(b.Book().DebtsOf(t.Context(), v.ID))(t)); n != 3 {
		t.Errorf("%d deliveries, want 3", n)
	}
}

// What was dropped is new to the next delivery.
func TestDropped(t *testing.T) {
	b := newBench(t)
	next := func() (Debt, Selection) {
		b.said("s", 1)
		b.clock.Advance(24 * time.Hour)
		d := b.takeUp()
		return d, b.attempt(d)
	}
	d, post := next()
	check(t, b.Debts().Delivered(t.Context(), d, post, ""))
	d, post = next()
	check(t, b.Debts().Dropped(t.Context(), d, post, "", "under 500 characters"))
	if len(post.Turns) != 1 {
		t.Fatalf("%d turns, want 1", len(post.Turns))
	}
	if _, post = next(); len(post.Turns) != 2 {
		t.Errorf("%d turns, want 2", len(post.Turns))
	}
}

// Two processes on one session end in any order; no turn is passed over.
func TestOwedByTwoProcesses(t *testing.T) {
	b := newBench(t)
	p, q := b.register(ProcessInfo{Memory: "daemon"}), b.register(ProcessInfo{Memory: "daemon"})
	v := b.open(OpenSession{ACPID: "s", Process: p.ID()})
	b.openTurn(v.ID, p.ID(), "slow", "")
	b.turn(v.ID, q.ID(), "quick", "hi")
	check(t, q.End(t.Context(), "eof"))
	d := b.takeUp()
	post := b.attempt(d)
	if len(post.Turns) != 1 || post.Turns[0].User != "quick" {
		t.Fatalf("delivered %+v", post.Turns)
	}
	check(t, b.Debts().Delivered(t.Context(), d, post, ""))
	check(t, p.End(t.Context(), "eof"))
	post = b.attempt(b.takeUp())
	if len(post.Turns) != 1 || post.Turns[0].User != "slow" {
		t.Errorf("then delivered %+v", post.Turns)
	}
}

func TestSummaryIsOwed(t *testing.T) {
	b := newBench(t)
	v := b.said("s", 1)
	p := b.register(ProcessInfo{Memory: "daemon", URL: "http://there"})
	for range 2 {
		check(t, b.summarised(p, v.ID, "summary"))
	}
	got := make(map[string]int)
	for range 3 {
		d := b.takeUp()
		got[d.Kind+" "+d.Payload]++
		post := b.attempt(d)
		if d.Kind == KindCompaction && d.URL != "http://there" {
			t.Errorf("owed to %q", d.URL)
		}
		if n := len(post.Turns); (n == 0) != (d.Kind == KindCompaction) {
			t.Errorf("%s holds %d turns", d.Kind, n)
		}
		check(t, b.Debts().Delivered(t.Context(), d, post, ""))
	}
	b.nothingDue()
	if diff := cmp.Diff(map[string]int{"daemon ": 1, "compaction summary": 2}, got); diff != "" {
		t.Error(diff)
	}
	check(t, b.summarised(b.register(ProcessInfo{Memory: "embedded"}), v.ID, "summary"))
	check(t, b.summarised(p, v.ID, ""))
	b.nothingDue()
}

func (b *bench) summarised(p *Process, session int64, text string) error {
	return b.happen(p.ID(), Summarised{Session: b.number(p.ID(), session), Text: text})
}

// What a long session has said is due after so many turns or so long, whichever comes first.
func TestDueSoFar(t *testing.T) {
	for _, tt := range []struct {
		turns int
		after time.Duration
		due   bool
	}{{19, time.Hour - 1, false}, {20, 0, true}, {0, time.Hour, true}, {20, time.Hour, true}} {
		if got := DueSoFar(tt.turns, tt.after); got != tt.due {
			t.Errorf("%d turns, %v: %t", tt.turns, tt.after, got)
		}
	}
}
