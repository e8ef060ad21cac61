package correlation_test

import (
	"context"
	"database/sql"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"go.uber.org/goleak"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

func TestMain(m *testing.M) {
	if run := reexecuted(); run != nil {
		run()
		return
	}
	goleak.VerifyTestMain(m)
}

// clock is a time that only tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.UnixMilli(1_760_000_000_000)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// a bench is a store on a database in a folder, as one process has it.
type bench struct {
	*Store
	tb    testing.TB
	db    *sql.DB
	dir   string
	clock *clock
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	return openBench(tb, tb.TempDir(), newClock())
}

// another is the same database as another process has it.
func (b *bench) another() *bench {
	b.tb.Helper()
	return openBench(b.tb, b.dir, b.clock)
}

func openBench(tb testing.TB, dir string, c *clock) *bench {
	tb.Helper()
	db, err := migrations.Open(tb.Context(), filepath.Join(dir, "acp", "sessions.db"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	store := New(db, Options{LiveDir: filepath.Join(dir, "acp", "live"), Now: c.Now})
	return &bench{Store: store, tb: tb, db: db, dir: dir, clock: c}
}

func (b *bench) ctx() context.Context { return b.tb.Context() }

// register starts a process that is ended with the test, unless the test does.
func (b *bench) register(info ProcessInfo) *Process {
	b.tb.Helper()
	if info.Kind == "" {
		info.Kind = Relay
	}
	p, err := b.Register(b.ctx(), info)
	if err != nil {
		b.tb.Fatal(err)
	}
	b.tb.Cleanup(func() { _ = p.End(context.Background(), "test") })
	return p
}

// died leaves a process that died without a word, and returns its id.
func (b *bench) died(info ProcessInfo) string {
	b.tb.Helper()
	id := ulid.Make().String()
	_, err := b.db.ExecContext(b.ctx(), `INSERT INTO processes (id, kind, harness, version, pid, signet_path, memory,
		hook, started) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?)`,
		id, Relay, info.Harness, info.Version, info.SignetPath, info.Memory, info.Hook, b.clock.Now().UnixMilli())
	check(b.tb, err)
	return id
}

// happen has events happen in a process, as its file says them.
func (b *bench) happen(process string, events ...Event) error {
	return correlationtest.Apply(b.ctx(), b.Store, process, events...)
}

// number is a session's in the events of a process, which may be one that has not opened it; 0: there is no session.
func (b *bench) number(process string, id int64) (n int) {
	b.tb.Helper()
	_, err := b.db.ExecContext(b.ctx(), `INSERT INTO attachments (process, n, session, closed)
		SELECT ?1, 1000 + id, id, 1 FROM sessions
		WHERE id = ?2 AND NOT EXISTS (SELECT 1 FROM attachments WHERE process = ?1 AND session = ?2)`, process, id)
	check(b.tb, err)
	return b.count(`SELECT coalesce(max(n), 0) FROM attachments WHERE process = ? AND session = ?`, process, id)
}

// startKey notes a session-start.
func (b *bench) startKey(process, key string) {
	b.tb.Helper()
	check(b.tb, b.happen(process, KeyStarted{Key: key}))
}

func (b *bench) tryStep(id int64, process string, from []State, step Step) error {
	return b.happen(process, Stepped{Session: b.number(process, id), From: from, Step: step})
}

func (b *bench) rekey(id int64, key string) error {
	return b.happen("p", Rekeyed{Session: b.number("p", id), Key: key})
}

func (b *bench) storeContext(id int64, key, text string) error {
	return b.happen("p", ContextStored{Session: b.number("p", id), Key: key, Fetched: b.clock.Now(), Context: []byte(text)})
}

func (b *bench) daemonAnswered(path, url, version string) error {
	return b.happen("p", DaemonAnswered{SignetPath: path, URL: url, Version: version})
}

func (b *bench) close(process string, id int64) error {
	return b.happen(process, Closed{Session: b.number(process, id), Reason: "closed"})
}

func (b *bench) open(o OpenSession) Session {
	b.tb.Helper()
	if o.Harness == "" {
		o.Harness = "claude"
	}
	return must(correlationtest.Session(b.ctx(), b.Store, o))(b.tb)
}

func (b *bench) state(id int64) State {
	b.tb.Helper()
	return must(b.Get(b.ctx(), id))(b.tb).State
}

// turn has a person say something and the assistant answer it.
func (b *bench) turn(session int64, process, user, assistant string) int64 {
	b.tb.Helper()
	return b.save(Turn{Session: session, Process: process, User: user, Assistant: assistant, Ended: b.clock.Now(),
		Stop: "end_turn"})
}

func (b *bench) openTurn(session int64, process, user, assistant string) int64 {
	b.tb.Helper()
	return b.save(Turn{Session: session, Process: process, User: user, Assistant: assistant})
}

// save writes a turn, a new one where it has no id, and returns its id.
func (b *bench) save(turn Turn) int64 {
	b.tb.Helper()
	if turn.ID != 0 {
		check(b.tb, b.db.QueryRowContext(b.ctx(), `SELECT session, process FROM turns WHERE id = ?`, turn.ID).
			Scan(&turn.Session, &turn.Process))
	}
	b.number(turn.Process, turn.Session)
	one := []Turn{turn}
	check(b.tb, correlationtest.Save(b.ctx(), b.Store, one))
	return one[0].ID
}

func (b *bench) count(query string, args ...any) (n int) {
	b.tb.Helper()
	check(b.tb, b.db.QueryRowContext(b.ctx(), query, args...).Scan(&n))
	return n
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// must returns v, having checked err: must(f())(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		check(tb, err)
		return v
	}
}

// The relay imports this package and must stay small and quick to start.
func TestDependencies(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, dep := range strings.Fields(string(out)) {
		if dep == "net/http" || strings.HasPrefix(dep, "github.com/mattn/go-sqlite3") ||
			strings.HasPrefix(dep, "modernc.org/sqlite") || strings.HasSuffix(dep, "/migrations") {
			t.Errorf("it depends on %s", dep)
		}
	}
}
