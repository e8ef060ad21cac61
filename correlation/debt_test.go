package correlation_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// said is a session with so many turns, whose process has ended.
func (b *bench) said(acpID string, turns int) Session {
	b.tb.Helper()
	return b.saidTo(acpID, turns, ProcessInfo{Memory: "daemon"})
}

func (b *bench) saidTo(acpID string, turns int, info ProcessInfo) Session {
	b.tb.Helper()
	p := b.register(info)
	v := b.open(OpenSession{ACPID: acpID, Process: p.ID()})
	for i := range turns {
		b.turn(v.ID, p.ID(), fmt.Sprintf("%s question %d", acpID, i), strings.Repeat("a", 100))
	}
	check(b.tb, p.End(b.ctx(), "eof"))
	return v
}

func (b *bench) takeUp() Debt {
	b.tb.Helper()
	d, err := b.Debts().TakeUp(b.ctx())
	check(b.tb, err)
	return d
}

func (b *bench) nothingDue() {
	b.tb.Helper()
	if d, err := b.Debts().TakeUp(b.ctx()); !errors.Is(err, ErrNothingDue) {
		b.tb.Fatalf("took up %+v, %v, want nothing", d, err)
	}
}

// attempt posts what a debt holds, as far as the database knows.
func (b *bench) attempt(d Debt) Selection {
	b.tb.Helper()
	post := must(b.Debts().Select(b.ctx(), d))(b.tb)
	check(b.tb, b.Debts().Attempt(b.ctx(), d, post))
	return post
}

func (b *bench) only(session int64) Debt {
	b.tb.Helper()
	all := must(b.Book().DebtsOf(b.ctx(), session))(b.tb)
	if len(all) != 1 {
		b.tb.Fatalf("%d debts", len(all))
	}
	return all[0]
}

// Every way for an attempt to come out, and what is so afterwards.
func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		come    func(b *bench, d Debt, post Selection) error
		state   DebtState
		open    bool
		due     time.Duration // from now, if open
		reply   string
		err     string
		taken   bool // its turns are not owed again
		isNew   int  // of its two turns, to a delivery after another process spoke once more
		mention bool // in Outstanding
		waits   bool
	}{
		{name: "delivered", come: func(b *bench, d Debt, post Selection) error {
			return b.Debts().Delivered(b.ctx(), d, post, `{"queued":true}`)
		}, state: Delivered, reply: `{"queued":true}`, taken: true},
		{name: "dropped", come: func(b *bench, d Debt, post Selection) error {
			return b.Debts().Dropped(b.ctx(), d, post, `{"memoriesSaved":0}`, "under 500 characters")
		}, state: Dropped, reply: `{"memoriesSaved":0}`, err: "under 500 characters", taken: true, isNew: 2},
		{name: "refused", come: func(b *bench, d Debt, post Selection) error {
			return b.Debts().Retry(b.ctx(), d, "connection refused")
		}, state: Owed, open: true, due: time.Second, err: "connection refused", isNew: 2, mention: true},
		{name: "later", come: func(b *bench, d Debt, post Selection) error {
			return b.Debts().Later(b.ctx(), d, "duplicateSessionEnd", 30*time.Minute)
		}, state: Owed, open: true, due: 30 * time.Minute, err: "duplicateSessionEnd", isNew: 2, mention: true,
			waits: true},
		{name: "broken off", come: func(b *bench, d Debt, post Selection) error {
			return b.Debts().BrokeOff(b.ctx(), d, "a fault")
		}, state: Owed, open: true, due: time.Second, err: "a fault", isNew: 2, mention: true},
		{name: "unanswered", come: func(b *bench, d Debt, post Selection) error {
			return b.Debts().Unanswered(b.ctx(), d, "timeout")
		}, state: Unknown, open: true, due: time.Second, err: "timeout", isNew: 2, mention: true},
		{name: "unanswered after a day of failures", come: func(b *bench, d Debt, post Selection) error {
			for range 12 {
				check(b.tb, b.Debts().Retry(b.ctx(), d, "connection refused"))
			}
			return b.Debts().Unanswered(b.ctx(), d, "timeout")
		}, state: Unknown, open: true, due: time.Second, err: "timeout", isNew: 2, mention: true},
		{name: "a worker died, and unanswered", come: func(b *bench, d Debt, post Selection) error {
			b.attempt(d)
			d = b.takeUp()
			b.attempt(d)
			return b.Debts().Unanswered(b.ctx(), d, "timeout")
		}, state: Unknown, open: true, due: time.Second, err: "timeout", isNew: 2, mention: true},
		{name: "unanswered, and a worker died", come: func(b *bench, d Debt, post Selection) error {
			check(b.tb, b.Debts().Unanswered(b.ctx(), d, "timeout"))
			b.clock.Advance(time.Second)
			b.attempt(b.takeUp())
			b.nothingDue()
			return nil
		}, state: Unknown, err: "no answer came while the worker lived", taken: true, mention: true},
		{name: "unanswered twice", come: func(b *bench, d Debt, post Selection) error {
			check(b.tb, b.Debts().Unanswered(b.ctx(), d, "timeout"))
			b.clock.Advance(time.Second)
			d = b.takeUp()
			b.attempt(d)
			return b.Debts().Unanswered(b.ctx(), d, "timeout again")
		}, state: Unknown, err: "timeout again", taken: true, mention: true},
		{name: "part of it", come: func(b *bench, d Debt, post Selection) error {
			post.Turns = post.Turns[:1]
			check(b.tb, b.Debts().Part(b.ctx(), d, post, `{"queued":true}`))
			return b.Debts().Retry(b.ctx(), d, "connection refused")
		}, state: Owed, open: true, due: time.Second, reply: `{"queued":true}`,
			err: "connection refused", isNew: 1, mention: true},
		{name: "all but the last part", come: func(b *bench, d Debt, post Selection) error {
			first, last := post, post
			first.Turns, last.Turns = post.Turns[:1], post.Turns[1:]
			check(b.tb, b.Debts().Part(b.ctx(), d, first, ""))
			return b.Debts().Dropped(b.ctx(), d, last, "", "under 500 characters")
		}, state: Delivered, err: "under 500 characters", isNew: 1},
		{name: "deferred", come: func(b *bench, d Debt, _ Selection) error {
			return b.Debts().Defer(b.ctx(), d, b.clock.Now().Add(time.Hour))
		}, state: Owed, open: true, due: time.Hour, isNew: 2, mention: true, waits: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			v := b.said("s", 2)
			d := b.takeUp()
			if d.Session != v.ID || d.Key != v.Key || d.Kind != KindDaemon || d.Reason != "eof" {
				t.Fatalf("took up %+v", d)
			}
			check(t, tt.come(b, d, b.attempt(d)))

			got := b.only(v.ID)
			if got.State != tt.state || got.Done.IsZero() != tt.open || got.Reply != tt.reply || got.Error != tt.err ||
				got.Waits != tt.waits {
				t.Errorf("it is %+v", got)
			}
			next, open, err := b.Debts().Due(t.Context())
			check(t, err)
			if tt.open {
				if wait := next.Sub(b.clock.Now()); wait != tt.due || open != 1 {
					t.Errorf("due in %v (%d open), want %v", wait, open, tt.due)
				}
				b.nothingDue()
				b.clock.Advance(tt.due)
				b.takeUp()
			} else if open != 0 {
				t.Errorf("%d open", open)
			}
			if got := len(must(b.Debts().Outstanding(t.Context()))(t)) == 1; got != tt.mention {
				t.Errorf("outstanding: %t", got)
			}
			if err := b.Debts().Delivered(t.Context(), d, Selection{}, ""); !tt.open && !errors.Is(err, ErrNotFound) {
				t.Errorf("once it is closed: %v", err)
			}
			if n := b.count("SELECT count(*) FROM turns WHERE daemon_delivery = 0"); (n == 0) != tt.taken {
				t.Errorf("%d turns were not taken", n)
			}
			post := must(b.Debts().Select(t.Context(), d))(t)
			if n := len(post.Turns); n != tt.isNew {
				t.Errorf("%d turns are new, want %d", n, tt.isNew)
			}
		})
	}
}

func TestBackoffAndDeath(t *testing.T) {
	b := newBench(t)
	v := b.said("s", 1)
	began := b.clock.Now()
	var waits []time.Duration
	for range 1000 {
		d := b.takeUp()
		b.attempt(d)
		check(t, b.Debts().Retry(t.Context(), d, "connection refused"))
		next, open, err := b.Debts().Due(t.Context())
		check(t, err)
		if open == 0 {
			break
		}
		waits = append(waits, next.Sub(b.clock.Now()))
		b.clock.Advance(next.Sub(b.clock.Now()))
	}
	want := []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600}
	for i := range want {
		want[i] *= time.Second
	}
	if diff := cmp.Diff(want, waits[:len(want)]); diff != "" {
		t.Error(diff)
	}
	if age := b.clock.Now().Sub(began); age < 14*24*time.Hour || age > 14*24*time.Hour+time.Hour {
		t.Errorf("given up after %v", age)
	}
	got := b.only(v.ID)
	if got.State != Dead || got.Error != "connection refused" || got.Attempts != len(waits)+1 {
		t.Errorf("it is %+v", got)
	}
	if all := must(b.Debts().Outstanding(t.Context()))(t); len(all) != 1 {
		t.Error("a dead delivery is not listed")
	}
	b.nothingDue()

	// The session goes on: what the dead delivery did not take goes along.
	b.said("s", 1)
	if post := must(b.Debts().Select(t.Context(), b.takeUp()))(t); len(post.Turns) != 2 || !post.First ||
		!post.Wait.IsZero() {
		t.Errorf("%d turns, first %v, wait %v", len(post.Turns), post.First, post.Wait)
	}
}

// A worker that dies after its post leaves the delivery unknown: it is repeated once, at once.
func TestWorkerDiesPosting(t *testing.T) {
	b := newBench(t)
	v := b.said("s", 2)
	for i, want := range []struct {
		taken      bool
		unanswered int
	}{{true, 0}, {true, -1}, {false, 2}} {
		d, err := b.Debts().TakeUp(t.Context())
		if (err == nil) != want.taken {
			t.Fatalf("round %d: took up %+v, %v", i, d, err)
		}
		if got := b.only(v.ID); got.Unanswered != want.unanswered {
			t.Fatalf("round %d: it is %+v", i, got)
		}
		if err == nil {
			b.attempt(d)
		}
		b.clock.Advance(10 * time.Second)
	}
	got := b.only(v.ID)
	if got.State != Unknown || got.Done.IsZero() || got.Attempts != 2 {
		t.Errorf("it is %+v", got)
	}
	if n := b.count("SELECT count(*) FROM turns WHERE daemon_delivery = ?", got.ID); n != 2 {
		t.Errorf("%d turns count as taken", n)
	}
}

func TestHookComesAfterTheDaemon(t *testing.T) {
	both := ProcessInfo{Memory: "daemon", Hook: true}
	for _, tt := range []struct {
		name string
		come func(b *bench, d Debt, post Selection) error
	}{
		{"delivered", func(b *bench, d Debt, post Selection) error { return b.Debts().Delivered(b.ctx(), d, post, "") }},
		{"down", func(b *bench, d Debt, _ Selection) error { return b.Debts().Retry(b.ctx(), d, "refused") }},
		{"not worth it yet", func(b *bench, d Debt, _ Selection) error {
			return b.Debts().Defer(b.ctx(), d, b.clock.Now().Add(time.Hour))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.saidTo("s", 1, both)
			d := b.takeUp()
			if d.Kind != KindDaemon {
				t.Fatalf("first comes %s", d.Kind)
			}
			post := must(b.Debts().Select(t.Context(), d))(t)
			if tt.name != "not worth it yet" {
				check(t, b.Debts().Attempt(t.Context(), d, post))
			}
			check(t, tt.come(b, d, post))
			if e := b.takeUp(); e.Kind != KindHook || e.Key != d.Key {
				t.Errorf("then comes %+v", e)
			}
		})
	}
}

// A hook that is due before the daemon's row waits for the daemon's first attempt all the same.
func TestHookIsDueBeforeTheDaemon(t *testing.T) {
	b := newBench(t)
	b.saidTo("s", 1, ProcessInfo{Memory: "daemon", Hook: true})
	must(b.db.ExecContext(t.Context(), `UPDATE debts SET due = due - 1000 WHERE kind = ?`, KindHook))(t)
	if d := b.takeUp(); d.Kind != KindDaemon {
		t.Errorf("first comes %s", d.Kind)
	}
}

func TestDeliveredUnderItsKey(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{Memory: "daemon"})
	a := b.open(OpenSession{ACPID: "A", Key: "k1", Process: p.ID()})
	b.turn(a.ID, p.ID(), "/help", "")
	v := b.open(OpenSession{ACPID: "B", New: true, ContinueOf: a.ID, Process: p.ID()}) // takes k1 along
	b.turn(v.ID, p.ID(), "one", "1")
	check(t, b.rekey(v.ID, "k2"))
	b.turn(v.ID, p.ID(), "two", "2")
	check(t, p.End(t.Context(), "eof"))
	got := make(map[string][]string)
	for range 2 {
		d := b.takeUp()
		post := b.attempt(d)
		for _, turn := range post.Turns {
			got[d.Key] = append(got[d.Key], turn.User)
		}
		check(t, b.Debts().Delivered(t.Context(), d, post, ""))
	}
	b.nothingDue()
	if diff := cmp.Diff(map[string][]string{"k1": {"/help", "one"}, "k2": {"two"}}, got); diff != "" {
		t.Error(diff)
	}
}

// A delivery carries what it needs, as the process that left it was configured, also where that died and where it
// became owed anew.
func TestDeliveryCarries(t *testing.T) {
	b := newBench(t)
	command := []string{"notify", "a word", `"quoted"`}
	for _, died := range []bool{false, true} {
		p := b.register(ProcessInfo{Memory: "daemon", URL: "http://127.0.0.1:1", HookCommand: command})
		v := b.open(OpenSession{ACPID: fmt.Sprint("s", died), AgentID: "mine", Process: p.ID()})
		b.turn(v.ID, p.ID(), "hello", "hi")
		if died {
			check(t, os.Remove(filepath.Join(b.dir, "acp", "live", p.ID()+".lock")))
			check(t, b.SweepDead(t.Context(), nil))
		} else {
			check(t, p.End(t.Context(), "eof"))
		}
		all := must(b.Book().DebtsOf(t.Context(), v.ID))(t)
		if len(all) != 2 {
			t.Fatalf("%d deliveries, want 2", len(all))
		}
		for _, d := range all {
			want := Debt{AgentID: "mine", URL: "http://127.0.0.1:1"}
			if d.Kind == KindHook {
				want.HookCommand = command
			}
			got := Debt{AgentID: d.AgentID, URL: d.URL, HookCommand: d.HookCommand}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Debt{})); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// What is owed elsewhere is owed where the daemon is now, what was given up there too, and keys are held there.
func TestMove(t *testing.T) {
	b := newBench(t)
	old := ProcessInfo{Memory: "daemon", URL: "http://old", Hook: true}
	given := b.saidTo("given up", 1, old)
	b.clock.Advance(15 * 24 * time.Hour)
	for d := b.takeUp(); ; d = b.takeUp() {
		check(t, b.Debts().Retry(b.ctx(), d, "connection refused"))
		if d.Kind == KindHook {
			break
		}
	}
	taken := b.saidTo("taken", 1, old)
	for _, kind := range []string{KindDaemon, KindHook} {
		d := b.takeUp()
		post := b.attempt(d)
		if post.Job.Key = d.Key; d.Kind != kind {
			t.Fatal(d.Kind)
		}
		check(t, b.Debts().Delivered(b.ctx(), d, post, ""))
	}
	open, here := b.saidTo("open", 1, old), b.saidTo("here", 1, ProcessInfo{Memory: "daemon", URL: "http://new"})
	p := b.register(old)
	b.startKey(p.ID(), open.Key)
	if n := must(b.Debts().Move(b.ctx(), "http://new"))(t); n != 2 {
		t.Errorf("%d moved", n)
	}
	for _, s := range []Session{given, open, here} {
		for _, d := range must(b.Book().DebtsOf(b.ctx(), s.ID))(t) {
			want := "owed http://new "
			if d.Kind == KindHook {
				want = map[int64]string{given.ID: "dead http://old connection refused", open.ID: "owed http://old "}[s.ID]
			}
			if got := fmt.Sprint(d.State, " ", d.URL, " ", d.Error); got != want {
				t.Errorf("%s, %s: %s, want %s", s.ACPID, d.Kind, got, want)
			}
		}
	}
	if d := must(b.Book().DebtsOf(b.ctx(), taken.ID))(t)[0]; d.URL != "http://new" || d.State != Delivered {
		t.Errorf("taken, and to be asked about: %s at %s", d.State, d.URL)
	}
	check(t, p.End(b.ctx(), "eof"))
	d := must(b.Debts().Select(b.ctx(), b.takeUp()))(t)
	if len(d.Turns) != 1 {
		t.Errorf("%d turns", len(d.Turns))
	}
	if n := b.count(`SELECT count(*) FROM session_keys WHERE key = ? AND held = '["http://new"]'`, open.Key); n != 1 {
		t.Error("its key is not taken to be held there")
	}
}
