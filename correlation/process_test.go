package correlation_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

func (b *bench) locks() (names []string) {
	b.tb.Helper()
	entries, err := os.ReadDir(filepath.Join(b.dir, "acp", "live"))
	check(b.tb, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestProcess(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{Harness: "claude"})
	if diff := cmp.Diff([]string{p.ID() + ".lock"}, b.locks()); diff != "" {
		t.Fatal(diff)
	}
	for name, want := range map[string]os.FileMode{"live": 0o700, "live/" + p.ID() + ".lock": 0o600} {
		info, err := os.Stat(filepath.Join(b.dir, "acp", name))
		check(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
	for _, store := range []*bench{b, b.another()} {
		check(t, store.SweepDead(t.Context(), nil))
		if n := b.count("SELECT count(*) FROM processes WHERE ended > 0"); n != 0 {
			t.Errorf("%d living processes were ended", n)
		}
	}
	check(t, p.End(t.Context(), "eof"))
	check(t, p.End(t.Context(), "again"))
	if got := b.locks(); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
	if n := b.count("SELECT count(*) FROM processes WHERE ended > 0 AND reason = 'eof'"); n != 1 {
		t.Error("the end is not in the row")
	}
	check(t, b.SweepDead(t.Context(), nil))
	if n := b.count("SELECT count(*) FROM processes WHERE ended > 0 AND reason = 'eof'"); n != 1 {
		t.Error("ended twice")
	}
}

// Where the database cannot be written at the end, the lock is let go all the same, and the next sweep does the rest.
func TestEndWithoutDatabase(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{Memory: "daemon"})
	v := b.in(InFlight, "s", p.ID())
	b.openTurn(v.ID, p.ID(), "hello", "hi")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.End(ctx, "eof"); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	check(t, b.another().SweepDead(t.Context(), nil))
	if got := b.state(v.ID); got != Doubt {
		t.Errorf("state is %q", got)
	}
	if _, n, err := b.Debts().Due(t.Context()); err != nil || n != 1 {
		t.Errorf("%d owed, %v", n, err)
	}
}

func TestSweepDead(t *testing.T) {
	b := newBench(t)
	dead := b.died(ProcessInfo{Memory: "daemon", Hook: true})
	v := b.in(InFlight, "s", dead)
	b.turn(v.ID, dead, "one", "1")
	b.openTurn(v.ID, dead, "two", "2")
	promptless := b.open(OpenSession{ACPID: "promptless", Process: dead})
	b.clock.Advance(time.Minute)
	lock := filepath.Join(b.dir, "acp", "live", dead+".lock") // nobody holds it
	check(t, os.MkdirAll(filepath.Dir(lock), 0o700))
	check(t, os.WriteFile(lock, nil, 0o600))
	check(t, os.WriteFile(filepath.Join(b.dir, "acp", "live.lock"), nil, 0o600)) // not in the folder: not ours
	check(t, b.SweepDead(t.Context(), nil))
	if left := b.locks(); slices.Contains(left, dead+".lock") {
		t.Errorf("the lock of the dead is left: %v", left)
	}
	turns := must(b.Book().Turns(t.Context(), v.ID))(t)
	if turns[1].Ended.IsZero() || turns[1].Stop != "" {
		t.Errorf("the open turn is %+v", turns[1])
	}
	var owed []string
	for _, d := range must(b.Book().DebtsOf(t.Context(), v.ID))(t) {
		owed = append(owed, d.Kind+" "+d.Reason+" "+string(d.State))
		if d.Key != v.Key || !d.Due.Equal(b.clock.Now()) {
			t.Errorf("the delivery is %+v", d)
		}
	}
	if diff := cmp.Diff([]string{"daemon died owed", "hook died owed"}, owed); diff != "" {
		t.Error(diff)
	}
	if got := must(b.Book().DebtsOf(t.Context(), promptless.ID))(t); len(got) != 0 {
		t.Errorf("a session without a prompt owes %+v", got)
	}
}

// Old rows of processes go, and lock files of processes that died before they had a row; nothing else does: neither the
// lock of a living one, however old, nor one that may be just being made.
func TestSweepFiles(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{})
	b.clock.t = time.Now()
	live := filepath.Join(b.dir, "acp", "live")
	young := ulid.MustNew(ulid.Timestamp(b.clock.t), rand.Reader).String() + ".lock"
	for _, name := range []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV.lock", young, "notes.txt", "x.lock"} {
		check(t, os.WriteFile(filepath.Join(live, name), nil, 0o600))
	}
	q := b.register(ProcessInfo{})
	check(t, q.End(t.Context(), "eof"))
	check(t, b.SweepDead(t.Context(), nil))
	left := []string{p.ID() + ".lock", young, "notes.txt", "x.lock"}
	slices.Sort(left)
	if diff := cmp.Diff(left, b.locks()); diff != "" {
		t.Error(diff)
	}
	if n := b.count("SELECT count(*) FROM processes"); n != 2 {
		t.Errorf("%d rows, want both", n)
	}
	b.clock.Advance(31 * 24 * time.Hour)
	check(t, b.SweepDead(t.Context(), nil))
	if n := b.count("SELECT count(*) FROM processes"); n != 1 {
		t.Errorf("%d rows, want that of the living", n)
	}
	if diff := cmp.Diff([]string{p.ID() + ".lock", "notes.txt", "x.lock"}, b.locks()); diff != "" {
		t.Error(diff)
	}
}

// A store that knows no folder of locks takes everybody for alive.
func TestNoLiveDir(t *testing.T) {
	b := newBench(t)
	b.died(ProcessInfo{})
	store := New(b.db, Options{})
	if _, err := store.Register(t.Context(), ProcessInfo{}); err == nil {
		t.Error("registered without a lock")
	}
	check(t, store.SweepDead(t.Context(), nil))
	if n := b.count("SELECT count(*) FROM processes WHERE ended > 0"); n != 0 {
		t.Errorf("ended %d", n)
	}
}

// What a session owes when its process ends.
func TestWhatIsOwed(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name string
		info ProcessInfo
		seen time.Duration // how long before the end a daemon answered; 0: never
		path string        // for which it answered
		life time.Duration // of the process
		want []string
	}{
		{name: "daemon mode", info: ProcessInfo{Memory: "daemon"}, want: []string{"daemon"}},
		{name: "auto, never seen", info: ProcessInfo{Memory: "auto"}},
		{name: "auto, seen", info: ProcessInfo{Memory: "auto"}, seen: time.Minute, want: []string{"daemon"}},
		{name: "auto, seen long ago", info: ProcessInfo{Memory: "auto"}, seen: 13 * day, want: []string{"daemon"}},
		{name: "auto, seen too long ago", info: ProcessInfo{Memory: "auto"}, seen: 15 * day},
		{name: "auto, seen in a long life", info: ProcessInfo{Memory: "auto"}, seen: 15 * day, life: 16 * day,
			want: []string{"daemon"}},
		{name: "auto, another's daemon", info: ProcessInfo{Memory: "auto"}, seen: time.Minute, path: "/elsewhere"},
		{name: "embedded", info: ProcessInfo{Memory: "embedded"}, seen: time.Minute},
		{name: "hook without a daemon", info: ProcessInfo{Memory: "embedded", Hook: true}, want: []string{"hook"}},
		{name: "both", info: ProcessInfo{Memory: "daemon", Hook: true}, want: []string{"daemon", "hook"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			if tt.info.SignetPath = "/home/u/.agents"; tt.path == "" {
				tt.path = tt.info.SignetPath
			}
			end := b.clock.Now().Add(20 * day)
			at := func(before time.Duration) { b.clock.Advance(end.Add(-before).Sub(b.clock.Now())) }
			at(tt.life)
			p := b.register(tt.info)
			v := b.open(OpenSession{ACPID: "s", Process: p.ID()})
			if tt.seen > 0 {
				at(tt.seen)
				check(t, b.daemonAnswered(tt.path, "http://127.0.0.1:3850", "0.58.1"))
			}
			at(0)
			b.turn(v.ID, p.ID(), "hello", "hi")
			check(t, p.End(t.Context(), "eof"))
			var got []string
			for _, d := range must(b.Book().DebtsOf(t.Context(), v.ID))(t) {
				got = append(got, d.Kind)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLeave(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{Memory: "daemon"})
	one := b.open(OpenSession{ACPID: "one", Process: p.ID()})
	two := b.open(OpenSession{ACPID: "two", Process: p.ID()})
	b.openTurn(one.ID, p.ID(), "hello", "hi")
	b.openTurn(two.ID, p.ID(), "hello", "hi")
	check(t, b.close(p.ID(), one.ID))
	if got := b.onlyTurn(one.ID); got.Ended.IsZero() {
		t.Error("its turn goes on")
	}
	if got := b.onlyTurn(two.ID); !got.Ended.IsZero() {
		t.Error("another session's turn has ended")
	}
	for _, v := range must(b.Book().Sessions(t.Context(), 0))(t) {
		if v.Live != (v.ID == two.ID) {
			t.Errorf("%s is live: %t", v.ACPID, v.Live)
		}
	}
	if n := len(must(b.Book().DebtsOf(t.Context(), one.ID))(t)); n != 1 {
		t.Errorf("%d deliveries owed", n)
	}
	check(t, p.End(t.Context(), "eof"))
	if n := len(must(b.Book().DebtsOf(t.Context(), one.ID))(t)); n != 1 {
		t.Errorf("%d deliveries owed after the end", n)
	}
	if n := len(must(b.Book().DebtsOf(t.Context(), two.ID))(t)); n != 1 {
		t.Errorf("%d deliveries owed by the other", n)
	}
}

// What a departed process has still to say is waited for.
func TestDepart(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{Memory: "daemon", URL: "http://there"})
	v := b.open(OpenSession{ACPID: "s", Process: p.ID()})
	id := b.turn(v.ID, p.ID(), "hello", "hi")
	check(t, b.ends(p.ID()))
	b.nothingDue()
	b.save(Turn{ID: id, Assistant: "hi, and late words"})
	b.turn(v.ID, p.ID(), "and a late prompt", "yes")
	check(t, errors.Join(b.ends(p.ID()), p.End(t.Context(), "eof")))
	d := b.takeUp()
	post := must(b.Debts().Select(t.Context(), d))(t)
	if len(post.Turns) != 2 || post.Turns[0].Assistant != "hi, and late words" || d.URL != "http://there" {
		t.Errorf("to %q: %+v", d.URL, post.Turns)
	}
	check(t, b.Debts().Delivered(t.Context(), d, post, ""))
	b.nothingDue()
}

// ends has a process say that it ends, while it still lives.
func (b *bench) ends(process string) error {
	return b.happen(process, ProcessEnded{Reason: "eof"})
}

// It is not waited for without end.
func TestDepartedAndStuck(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{Memory: "daemon"})
	v := b.open(OpenSession{ACPID: "s", Process: p.ID()})
	b.turn(v.ID, p.ID(), "hello", "hi")
	check(t, b.ends(p.ID()))
	b.clock.Advance(31 * time.Second)
	b.takeUp()
}

func TestOnce(t *testing.T) {
	b := newBench(t)
	for i, want := range []bool{true, false, false} {
		if got := must(b.Once(t.Context(), "first run: /home/u/.agents"))(t); got != want {
			t.Errorf("call %d: %t", i, got)
		}
	}
	if !must(b.Once(t.Context(), "other"))(t) {
		t.Error("another notice counts as told")
	}
}
