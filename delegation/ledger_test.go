package delegation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

func newLedger(t *testing.T) *Ledger {
	t.Helper()
	dir := t.TempDir()
	db, err := migrations.Open(t.Context(), filepath.Join(dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return NewLedger(db, filepath.Join(dir, "live"), filepath.Join(dir, "work"))
}

var robin = Caller{Key: "acp-robin", Harness: "claude", Cwd: "/src/heron", Project: "/src/heron"}

// want is a request that is allowed, another one each time.
func want(n int) Request {
	return Request{Agent: "codex", Task: fmt.Sprintf("Look at part %d.", n), Scope: "proxy/frame", Kept: "the release"}
}

func (l *Ledger) must(t *testing.T, who Caller, r Request) Delegation {
	t.Helper()
	d, fresh, err := l.Create(t.Context(), who, r)
	if err != nil || !fresh {
		t.Fatalf("%v, fresh %v", err, fresh)
	}
	return d
}

// begin makes a living runner run a delegation.
func (l *Ledger) begin(t *testing.T, id string) (Delegation, *correlation.Lock) {
	t.Helper()
	lock, err := correlation.TakeLock(l.live, correlation.NewProcessID())
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Begin(t.Context(), id, lock.ID())
	if err != nil {
		t.Fatal(err)
	}
	return d, lock
}

// Only what succeeded, runs or may have been done is the answer to a request that is repeated.
func TestAskedAgain(t *testing.T) {
	for state, fresh := range map[State]bool{Queued: false, Running: false, Done: false, Lost: false, Failed: true,
		Stopped: true, Cancelled: true} {
		l := newLedger(t)
		first := l.must(t, robin, want(1))
		if state != Queued {
			d, lock := l.begin(t, first.ID)
			defer lock.Release()
			switch state {
			case Running:
			case Lost:
				lock.Release()
			default:
				if err := l.End(t.Context(), Delegation{ID: d.ID, Runner: lock.ID(), State: state}); err != nil {
					t.Fatal(err)
				}
			}
		}
		again, is, err := l.Create(t.Context(), robin, want(1))
		if err != nil || is != fresh || (again.ID != first.ID) != fresh {
			t.Errorf("after %s: %t, %s after %s, %v", state, is, again.ID, first.ID, err)
		}
		if third, is, err := l.Create(t.Context(), robin, want(1)); err != nil || is || third.ID != again.ID {
			t.Errorf("and again: %t, %s, %v", is, third.ID, err)
		}
	}
}

// The same request, asked by many at once, is one row, and one of many runners runs it.
func TestOnce(t *testing.T) {
	l := newLedger(t)
	var rows, runs atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d, fresh, err := l.Create(context.Background(), robin, want(1))
			if err != nil {
				t.Error(err)
				return
			}
			if fresh {
				rows.Add(1)
			}
			if _, err := l.Begin(context.Background(), d.ID, correlation.NewProcessID()); err == nil {
				runs.Add(1)
			} else if !errors.Is(err, errTaken) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if rows.Load() != 1 || runs.Load() != 1 {
		t.Errorf("%d rows, %d runs", rows.Load(), runs.Load())
	}
	other := robin
	other.Key = "acp-wren"
	if _, fresh, err := l.Create(t.Context(), other, want(1)); !fresh || err != nil {
		t.Errorf("another caller's: %v, %v", fresh, err)
	}
}

// A caller that asks for a hundred gets four at a time and twenty in all, those of whom it asked included.
func TestMostDelegations(t *testing.T) {
	l := newLedger(t)
	made, refused := 0, map[string]int{}
	for i := range 100 {
		d, _, err := l.Create(t.Context(), robin, want(i))
		switch {
		case err != nil:
			refused[err.Error()]++
			open, err := l.stored(t.Context(), `WHERE ended = 0`)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range open {
				if err := l.cancel(t.Context(), o.ID, "enough"); err != nil {
					t.Fatal(err)
				}
			}
		default:
			made++
			if d.State != Queued {
				t.Fatalf("%+v", d)
			}
		}
	}
	if made != maxInAll || len(refused) != 2 {
		t.Errorf("%d made, refused %v", made, refused)
	}
	for why := range refused {
		if !strings.Contains(why, "are running") && !strings.Contains(why, "do the rest yourself") {
			t.Errorf("refused: %s", why)
		}
	}
}

// What is asked inside a delegation has less of everything.
func TestInside(t *testing.T) {
	l := newLedger(t)
	r := want(1)
	r.Scope, r.Budget = "proxy/frame\nproxy/wire", Budget{Turns: 9, Tokens: 1000, Seconds: 600}
	outer, lock := l.begin(t, l.must(t, robin, r).ID)
	defer lock.Release()
	who := Caller{Key: "acp-child", Cwd: robin.Cwd, Inside: outer.ID}
	ask := func(change func(*Request)) (Delegation, error) {
		r := Request{Agent: "claude", Task: "Part.", Scope: "proxy/frame", Kept: "proxy/wire", Detach: true,
			Budget: Budget{Turns: 50, Cost: 3, Seconds: 5000}}
		if change != nil {
			change(&r)
		}
		d, _, err := l.Create(t.Context(), who, r)
		return d, err
	}
	d, err := ask(nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Depth != 2 || d.Root != robin.Key || d.Detach || d.Budget.Turns != 9 || d.Budget.Tokens != 1000 ||
		d.Budget.Cost != 3 || d.Budget.Seconds > 600 {
		t.Errorf("%+v", d)
	}
	for name, tt := range map[string]struct {
		change func(*Request)
		want   string
	}{
		"more rights": {func(r *Request) { r.Mode = Edit }, "you may only read"},
		"more scope":  {func(r *Request) { r.Scope = "docs" }, "is outside your own scope"},
		"all of it":   {func(r *Request) { r.Scope, r.Kept = "proxy/frame;proxy/wire", "coffee" }, "you would keep nothing"},
	} {
		if _, err := ask(tt.change); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	inner, innerLock := l.begin(t, d.ID)
	defer innerLock.Release()
	who.Inside = inner.ID
	if _, err := ask(func(r *Request) { r.Scope, r.Kept = "proxy/frame/scan.go", "proxy/frame/peek.go" }); err == nil ||
		!strings.Contains(err.Error(), "2 delegations deep") {
		t.Errorf("a third: %v", err)
	}
	if err := l.End(t.Context(), Delegation{ID: inner.ID, Runner: innerLock.ID(), State: Done}); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(nil); err == nil || !strings.Contains(err.Error(), "is ending") {
		t.Errorf("of one that has ended: %v", err)
	}
}

// What a row says is true, whoever was killed, and also where that cannot be written.
func TestTruth(t *testing.T) {
	l := newLedger(t)
	queued := l.must(t, robin, want(1))
	running, lock := l.begin(t, l.must(t, robin, want(2)).ID)
	state := func(id string) State {
		t.Helper()
		d, err := l.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return d.State
	}
	if a, b := state(queued.ID), state(running.ID); a != Queued || b != Running {
		t.Errorf("%s, %s", a, b)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	l.now = func() time.Time { return time.Now().Add(beginLimit + time.Second) }
	for range 2 {
		if a, b := state(queued.ID), state(running.ID); a != Failed || b != Lost {
			t.Errorf("%s, %s", a, b)
		}
		if err := l.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Begin(t.Context(), queued.ID, "late"); !errors.Is(err, errTaken) {
		t.Errorf("a runner that comes too late: %v", err)
	}
	if err := l.End(t.Context(), Delegation{ID: running.ID, Runner: lock.ID(), State: Done}); !errors.Is(err, errTaken) {
		t.Errorf("a runner that counts as dead: %v", err)
	}
}

// Who waits for what sees the caller end: its process, its turn, its session.
func TestWatch(t *testing.T) {
	l := newLedger(t)
	store := correlation.New(l.db, correlation.Options{LiveDir: l.live})
	process, err := store.Register(t.Context(), correlation.ProcessInfo{Kind: correlation.Relay, Memory: "embedded"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := correlationtest.Session(t.Context(), store, correlation.OpenSession{Harness: "claude", ACPID: "one", Process: process.ID(),
		New: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.db.Exec(`INSERT INTO turns (session, key, process, started, user) VALUES (?, ?, ?, 1,
		'x')`, s.ID, s.Key, process.ID()); err != nil {
		t.Fatal(err)
	}
	who := robin
	who.Key, who.Process = s.Key, process.ID()
	if who.Turn, err = l.sessions.OpenTurn(t.Context(), s.Key); err != nil || who.Turn == 0 {
		t.Fatalf("turn %d, %v", who.Turn, err)
	}
	d, lock := l.begin(t, l.must(t, who, want(1)).ID)
	defer lock.Release()
	r := want(2)
	r.Detach = true
	detached, other := l.begin(t, l.must(t, who, r).ID)
	defer other.Release()
	why := func(want string) {
		t.Helper()
		got, _, err := l.checkStop(t.Context(), d)
		if err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
		if got, _, err := l.checkStop(t.Context(), detached); err != nil || got != "" {
			t.Errorf("detached: %q, %v", got, err)
		}
	}
	change := func(query string) {
		t.Helper()
		if _, err := l.db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	why("")
	change(`UPDATE turns SET ended = 1, stop = 'cancelled'`)
	why("its caller's turn was cancelled")
	change(`UPDATE turns SET stop = 'end_turn'`)
	why("")
	change(`DELETE FROM attachments`)
	why("its caller's session was closed")
	change(`INSERT INTO attachments (session, n, process) SELECT id, id, '` + process.ID() + `' FROM sessions`)
	if err := process.End(t.Context(), "eof"); err != nil {
		t.Fatal(err)
	}
	change(`INSERT OR REPLACE INTO attachments (session, n, process) SELECT id, id, '` + process.ID() + `' FROM sessions`)
	why("its caller has ended")
	if err := l.cancel(t.Context(), d.ID, "asked"); err != nil {
		t.Fatal(err)
	}
	why("asked")
}

// Secrets of a task stand in no row.
func TestRowsAreClean(t *testing.T) {
	l := newLedger(t)
	r := want(1)
	r.Task = "Log in with password=hunter2hunter2 and <private>tell nobody</private> look."
	d := l.must(t, robin, r)
	stored, err := l.Get(t.Context(), d.ID)
	if err != nil || strings.Contains(stored.Task, "hunter2") || strings.Contains(stored.Task, "nobody") {
		t.Errorf("%q, %v", stored.Task, err)
	}
}

// A delegation is found from both of its sessions, stands among the events of the one that asked, and its words go
// with either.
func TestLinked(t *testing.T) {
	l := newLedger(t)
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := l.db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	session := func(id int, acpID, key string) {
		run(`INSERT INTO sessions (id, harness, acp_id, key, state, started, last_active)
			VALUES (?, 'h', ?, ?, 'done', 1, 1)`, id, acpID, key)
		run(`INSERT INTO session_keys (key, session, n, created) VALUES (?, ?, 1, 1)`, key, id)
	}
	session(1, "asker", robin.Key)
	session(2, "worker", "acp-worker")
	d := l.must(t, robin, want(1))
	l.must(t, Caller{}, want(2)) // a person's
	_, lock := l.begin(t, d.ID)
	defer lock.Release()
	stand := Run{ACPID: "worker", Usage: Usage{Turns: 1}}
	for range 2 { // the second says nothing new
		if err := l.saveProgress(t.Context(), Delegation{ID: d.ID, Runner: lock.ID()}, stand); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.End(t.Context(), Delegation{ID: d.ID, Runner: lock.ID(), State: Done, Result: Result{Answer: "grey"}}); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[int64][2]int{1: {1, 0}, 2: {0, 1}, 3: {0, 0}} {
		asked, works, err := l.Linked(t.Context(), session)
		if err != nil || [2]int{len(asked), len(works)} != want {
			t.Fatalf("of session %d: %+v, %+v, %v", session, asked, works, err)
		}
		for _, one := range append(asked, works...) {
			if one.ID != d.ID || one.Answer != "grey" {
				t.Errorf("%+v", one)
			}
		}
	}
	var states string
	err := l.db.QueryRowContext(t.Context(), `SELECT group_concat(data ->> 'state' || ' ' || (data ->> 'acpId'), ', ')
		FROM (SELECT data FROM events WHERE session = 1 AND kind = 'delegation_changed' ORDER BY id)`).Scan(&states)
	if want := "queued , running , running worker, done worker"; err != nil || states != want {
		t.Errorf("events: %q, %v, want %q", states, err, want)
	}
	for _, id := range []int{2, 1} {
		run(`UPDATE delegations SET request = json_set(request, '$.task', 'secret'),
			result = json_set(result, '$.answer', 'secret') WHERE id = ?`, d.ID)
		run(`DELETE FROM sessions WHERE id = ?`, id)
		got, err := l.Get(t.Context(), d.ID)
		if err != nil || got.State != Done || got.Task+got.Scope+got.Kept+got.Answer != "" {
			t.Errorf("after session %d is gone: %+v, %v", id, got, err)
		}
	}
}

// Whatever statement fails, whoever asked is told, and nothing is changed by halves.
func TestStatementsFail(t *testing.T) {
	l := newLedger(t)
	queued := l.must(t, robin, want(1))
	running, lock := l.begin(t, l.must(t, robin, want(2)).ID)
	defer lock.Release()
	var path string
	err := l.db.QueryRow("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&path)
	if err == nil {
		_, err = l.Send(t.Context(), Message{From: "codex", To: robin.Key, Text: "It is done.", Project: robin.Project})
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []Delegation{queued, running} {
		ended := d
		ended.State = Done
		correlationtest.Walk{Opened: l.db, Path: path, InSteps: []string{"Settle"}, Values: []any{t.Context(), d.ID, robin, want(3),
			ended, int64(1), 5, []string{robin.Key}, Message{From: "claude", To: "codex", Text: "Look again.", Project: robin.Project}},
		}.Every(t, func(db *sql.DB, _ string) any { return NewLedger(db, l.live, l.folders) })
	}
}
