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

func (b *bench) worker() *Process { return b.register(ProcessInfo{Kind: Worker}) }

func (b *bench) lease(w *Process) Delivery {
	b.tb.Helper()
	d, _, err := b.Lease(b.ctx(), w)
	check(b.tb, err)
	return d
}

func (b *bench) nothingDue(w *Process) {
	b.tb.Helper()
	if d, _, err := b.Lease(b.ctx(), w); !errors.Is(err, ErrNothingDue) {
		b.tb.Fatalf("leased %+v, %v, want nothing", d, err)
	}
}

// attempt posts what a delivery holds, as far as the database knows.
func (b *bench) attempt(d Delivery) Selection {
	b.tb.Helper()
	post := must(b.Select(b.ctx(), d))(b.tb)
	check(b.tb, b.Attempt(b.ctx(), d, post, "/acp/transcripts/1.txt"))
	return post
}

func (b *bench) only(session int64) Delivery {
	b.tb.Helper()
	all := must(b.Deliveries(b.ctx(), session))(b.tb)
	if len(all) != 1 {
		b.tb.Fatalf("%d deliveries", len(all))
	}
	return all[0]
}

// Every way for an attempt to come out, and what is so afterwards.
func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		come    func(b *bench, d Delivery, post Selection) error
		state   DeliveryState
		open    bool
		due     time.Duration // from now, if open
		reply   string
		err     string
		taken   bool // its turns are not owed again
		isNew   int  // of its two turns, to a delivery after another process spoke once more
		mention bool // in Outstanding
	}{
		{name: "delivered", come: func(b *bench, d Delivery, post Selection) error {
			return b.Delivered(b.ctx(), d, post, `{"queued":true}`)
		}, state: Delivered, reply: `{"queued":true}`, taken: true},
		{name: "dropped", come: func(b *bench, d Delivery, post Selection) error {
			return b.Dropped(b.ctx(), d, post, `{"memoriesSaved":0}`, "under 500 characters")
		}, state: Dropped, reply: `{"memoriesSaved":0}`, err: "under 500 characters", taken: true, isNew: 2},
		{name: "refused", come: func(b *bench, d Delivery, post Selection) error {
			return b.Retry(b.ctx(), d, "connection refused", 0)
		}, state: Owed, open: true, due: time.Second, err: "connection refused", isNew: 2, mention: true},
		{name: "later", come: func(b *bench, d Delivery, post Selection) error {
			return b.Retry(b.ctx(), d, "duplicateSessionEnd", 30*time.Minute)
		}, state: Owed, open: true, due: 30 * time.Minute, err: "duplicateSessionEnd", isNew: 2, mention: true},
		{name: "unanswered", come: func(b *bench, d Delivery, post Selection) error {
			return b.Unanswered(b.ctx(), d, "timeout")
		}, state: Unknown, open: true, due: time.Second, err: "timeout", isNew: 2, mention: true},
		{name: "unanswered twice", come: func(b *bench, d Delivery, post Selection) error {
			check(b.tb, b.Unanswered(b.ctx(), d, "timeout"))
			b.clock.Advance(time.Second)
			d = b.lease(b.worker())
			b.attempt(d)
			return b.Unanswered(b.ctx(), d, "timeout again")
		}, state: Unknown, err: "timeout again", taken: true, mention: true},
		{name: "part of it", come: func(b *bench, d Delivery, post Selection) error {
			post.Turns = post.Turns[:1]
			check(b.tb, b.Part(b.ctx(), d, post, `{"queued":true}`))
			return b.Retry(b.ctx(), d, "connection refused", 0)
		}, state: Owed, open: true, due: time.Second, reply: `{"queued":true}`,
			err: "connection refused", isNew: 1, mention: true},
		{name: "all but the last part", come: func(b *bench, d Delivery, post Selection) error {
			first, last := post, post
			first.Turns, last.Turns = post.Turns[:1], post.Turns[1:]
			check(b.tb, b.Part(b.ctx(), d, first, ""))
			return b.Dropped(b.ctx(), d, last, "", "under 500 characters")
		}, state: Delivered, err: "under 500 characters", isNew: 1},
		{name: "deferred", come: func(b *bench, d Delivery, _ Selection) error {
			return b.Defer(b.ctx(), d, b.clock.Now().Add(time.Hour))
		}, state: Owed, open: true, due: time.Hour, isNew: 2, mention: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			v := b.said("s", 2)
			w := b.worker()
			d := b.lease(w)
			if d.Session != v.ID || d.Key != v.Key || d.Kind != KindDaemon || d.Reason != "eof" {
				t.Fatalf("leased %+v", d)
			}
			check(t, tt.come(b, d, b.attempt(d)))

			got := b.only(v.ID)
			if got.State != tt.state || got.Done.IsZero() != tt.open || got.Reply != tt.reply || got.Error != tt.err ||
				got.Lease != "" {
				t.Errorf("it is %+v", got)
			}
			next, open, err := b.Due(t.Context())
			check(t, err)
			if tt.open {
				if wait := next.Sub(b.clock.Now()); wait != tt.due || open != 1 {
					t.Errorf("due in %v (%d open), want %v", wait, open, tt.due)
				}
				b.nothingDue(w)
				b.clock.Advance(tt.due)
				b.lease(w)
			} else if open != 0 || got.File != "" {
				t.Errorf("%d open, file %q", open, got.File)
			}
			if got := len(must(b.Outstanding(t.Context()))(t)) == 1; got != tt.mention {
				t.Errorf("outstanding: %t", got)
			}
			if err := b.Delivered(t.Context(), d, Selection{}, ""); !errors.Is(err, ErrLeaseLost) {
				t.Errorf("with the old lease: %v", err)
			}
			if n := b.count("SELECT count(*) FROM turns WHERE daemon_delivery = 0"); (n == 0) != tt.taken {
				t.Errorf("%d turns were not taken", n)
			}
			post := must(b.Select(t.Context(), d))(t)
			if n := len(post.Turns); n != tt.isNew {
				t.Errorf("%d turns are new, want %d", n, tt.isNew)
			}
		})
	}
}

func TestBackoffAndDeath(t *testing.T) {
	b := newBench(t)
	v := b.said("s", 1)
	w := b.worker()
	began := b.clock.Now()
	var waits []time.Duration
	for range 1000 {
		d := b.lease(w)
		b.attempt(d)
		check(t, b.Retry(t.Context(), d, "connection refused", 0))
		next, open, err := b.Due(t.Context())
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
	if all := must(b.Outstanding(t.Context()))(t); len(all) != 1 {
		t.Error("a dead delivery is not listed")
	}
	b.nothingDue(w)

	// The session goes on: what the dead delivery did not take goes along.
	b.said("s", 1)
	if post := must(b.Select(t.Context(), b.lease(w)))(t); len(post.Turns) != 2 || !post.First ||
		!post.Wait.IsZero() {
		t.Errorf("%d turns, first %v, wait %v", len(post.Turns), post.First, post.Wait)
	}
}

// What others may lease that a worker has leased.
func TestLease(t *testing.T) {
	b := newBench(t)
	v := b.said("s", 1)
	w, other := b.worker(), b.another()
	x := other.worker()
	d := b.lease(w)
	other.nothingDue(x)
	b.nothingDue(w)

	b.clock.Advance(LeaseTime - time.Second)
	check(t, b.Renew(t.Context(), d))
	b.clock.Advance(LeaseTime - time.Second)
	other.nothingDue(x)
	b.clock.Advance(2 * time.Second)
	e := other.lease(x) // not renewed in time
	if err := b.Renew(t.Context(), d); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("renewed a lost lease: %v", err)
	}
	if err := b.Attempt(t.Context(), d, Selection{}, ""); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("attempt with a lost lease: %v", err)
	}
	check(t, x.End(t.Context(), "killed")) // lets the lock go, not the lease
	f := b.lease(w)
	if f.ID != e.ID || f.Unanswered != 0 {
		t.Errorf("leased %+v after its worker ended before it posted", f)
	}
	if got := b.only(v.ID); got.State != Owed || got.Lease != w.ID() {
		t.Errorf("it is %+v", got)
	}
}

// A worker that dies after its post leaves the delivery unknown: it is repeated once, at once.
func TestWorkerDiesPosting(t *testing.T) {
	b := newBench(t)
	v := b.said("s", 2)
	for i, want := range []struct {
		leased     bool
		unanswered int
	}{{true, 0}, {true, 1}, {false, 2}} {
		w := b.worker()
		d, left, err := b.Lease(t.Context(), w)
		if (err == nil) != want.leased {
			t.Fatalf("round %d: leased %+v, %v", i, d, err)
		}
		if (len(left) == 1) == want.leased {
			t.Errorf("round %d: to be removed: %q", i, left)
		}
		if got := b.only(v.ID); got.Unanswered != want.unanswered {
			t.Fatalf("round %d: it is %+v", i, got)
		}
		if err == nil {
			b.attempt(d)
		}
		check(t, w.End(t.Context(), "killed"))
		b.clock.Advance(10 * time.Second)
	}
	got := b.only(v.ID)
	if got.State != Unknown || got.Done.IsZero() || got.Attempts != 2 {
		t.Errorf("it is %+v", got)
	}
	if got.File == "" {
		t.Error("the file that it left is not named")
	}
	if n := b.count("SELECT count(*) FROM turns WHERE daemon_delivery = ?", got.ID); n != 2 {
		t.Errorf("%d turns count as taken", n)
	}
}

func TestHookComesAfterTheDaemon(t *testing.T) {
	both := ProcessInfo{Memory: "daemon", Hook: true}
	for _, tt := range []struct {
		name string
		come func(b *bench, d Delivery, post Selection) error
	}{
		{"delivered", func(b *bench, d Delivery, post Selection) error { return b.Delivered(b.ctx(), d, post, "") }},
		{"down", func(b *bench, d Delivery, _ Selection) error { return b.Retry(b.ctx(), d, "refused", 0) }},
		{"not worth it yet", func(b *bench, d Delivery, _ Selection) error {
			return b.Defer(b.ctx(), d, b.clock.Now().Add(time.Hour))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.saidTo("s", 1, both)
			b.saidTo("other", 1, ProcessInfo{Hook: true})
			w := b.worker()
			d := b.lease(w)
			if d.Kind != KindDaemon {
				t.Fatalf("first comes %s", d.Kind)
			}
			if e := b.lease(w); e.Kind != KindHook || e.Key == d.Key {
				t.Fatalf("a hook of the same key while the daemon is asked: %+v", e)
			}
			b.nothingDue(w)
			post := must(b.Select(t.Context(), d))(t)
			if tt.name != "not worth it yet" {
				check(t, b.Attempt(t.Context(), d, post, ""))
				b.nothingDue(w)
			}
			check(t, tt.come(b, d, post))
			if e := b.lease(w); e.Kind != KindHook || e.Key != d.Key {
				t.Errorf("then comes %+v", e)
			}
		})
	}
}

// A hook that is due before the daemon's row waits for the daemon's first attempt all the same.
func TestHookIsDueBeforeTheDaemon(t *testing.T) {
	b := newBench(t)
	b.saidTo("s", 1, ProcessInfo{Memory: "daemon", Hook: true})
	must(b.db.ExecContext(t.Context(), `UPDATE deliveries SET due = due - 1000 WHERE kind = ?`, KindHook))(t)
	if d := b.lease(b.worker()); d.Kind != KindDaemon {
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
	w := b.worker()
	got := make(map[string][]string)
	for range 2 {
		d := b.lease(w)
		post := b.attempt(d)
		for _, turn := range post.Turns {
			got[d.Key] = append(got[d.Key], turn.User)
		}
		check(t, b.Delivered(t.Context(), d, post, ""))
	}
	b.nothingDue(w)
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
		p := b.register(ProcessInfo{Memory: "daemon", URL: "http://127.0.0.1:1", HookCommand: command,
			HookLimit: 7 * time.Second})
		v := b.open(OpenSession{ACPID: fmt.Sprint("s", died), AgentID: "mine", Process: p.ID()})
		b.turn(v.ID, p.ID(), "hello", "hi")
		if died {
			check(t, os.Remove(filepath.Join(b.dir, "acp", "live", p.ID()+".lock")))
			must(b.SweepDead(t.Context(), nil))(t)
		} else {
			check(t, p.End(t.Context(), "eof"))
		}
		all := must(b.Deliveries(t.Context(), v.ID))(t)
		if len(all) != 2 {
			t.Fatalf("%d deliveries, want 2", len(all))
		}
		for _, d := range all {
			want := Delivery{AgentID: "mine", URL: "http://127.0.0.1:1"}
			if d.Kind == KindHook {
				want.HookCommand, want.HookLimit = command, 7*time.Second
			}
			got := Delivery{AgentID: d.AgentID, URL: d.URL, HookCommand: d.HookCommand, HookLimit: d.HookLimit}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Delivery{})); diff != "" {
				t.Error(diff)
			}
		}
	}
}
