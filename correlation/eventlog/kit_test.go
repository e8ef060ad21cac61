package eventlog_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

func TestMain(m *testing.M) {
	if run := reexecuted(); run != nil {
		run()
		return
	}
	goleak.VerifyTestMain(m)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		check(tb, err)
		return v
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// A bench is a folder with a database, as one process has it.
type bench struct {
	tb    testing.TB
	dir   string // of the files
	path  string
	db    *sql.DB
	store *correlation.Store

	mu   sync.Mutex // guards what follows
	told []string
	gone []int
	said []string // in the log
}

func newBench(tb testing.TB) *bench {
	numbers.Store(0)
	tb.Helper()
	b := &bench{tb: tb, path: filepath.Join(tb.TempDir(), "acp", "sessions.db")}
	b.dir = filepath.Join(filepath.Dir(b.path), "live")
	b.open()
	return b
}

// open opens the database, perhaps anew.
func (b *bench) open() {
	b.tb.Helper()
	db := must(migrations.Open(b.tb.Context(), b.path))(b.tb)
	b.tb.Cleanup(func() { check(b.tb, db.Close()) })
	b.db = db
	b.store = correlation.New(b.db, correlation.Options{LiveDir: b.dir, Path: b.path})
}

// away moves the database away, as somebody does who replaces it.
func (b *bench) away() {
	b.tb.Helper()
	for _, name := range must(filepath.Glob(b.path + "*"))(b.tb) {
		if err := os.Rename(name, name+".away"); !errors.Is(err, fs.ErrNotExist) { // whoever opens the rest drops an old log
			check(b.tb, err)
		}
	}
}

// failing has the store use a connection of which a statement may fail.
func (b *bench) failing() *correlationtest.Faults {
	b.tb.Helper()
	db, faults := correlationtest.Failing(b.db, b.path)
	b.tb.Cleanup(func() { check(b.tb, db.Close()) })
	b.store = correlation.New(db, correlation.Options{LiveDir: b.dir, Path: b.path})
	return faults
}

func (b *bench) options() Options {
	return Options{
		Dir:     b.dir,
		Process: correlation.ProcessInfo{Kind: correlation.Relay, Harness: "claude", Memory: "daemon"},
		Log: zerolog.New(io.Discard).Hook(zerolog.HookFunc(func(_ *zerolog.Event, _ zerolog.Level, said string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.said = append(b.said, said)
		})),
		Tell: func(line string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.told = append(b.told, line)
		},
		Folded: func(_ bool, gone []int) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.gone = append(b.gone, gone...)
		},
	}
}

// log begins a log that is closed with the test, unless the test does.
func (b *bench) log(attach bool) *Log {
	b.tb.Helper()
	l := must(Open(b.options()))(b.tb)
	b.tb.Cleanup(func() { _, _ = l.Close(context.Background()) })
	if attach {
		l.Attach(b.store)
	}
	return l
}

func (b *bench) count(query string, args ...any) (n int) {
	b.tb.Helper()
	check(b.tb, b.db.QueryRowContext(b.tb.Context(), query, args...).Scan(&n))
	return n
}

func (b *bench) files() (names []string) {
	b.tb.Helper()
	all := must(filepath.Glob(filepath.Join(b.dir, "*.events")))(b.tb)
	for _, path := range all {
		names = append(names, filepath.Base(path))
	}
	return names
}

// nothingWaits checks that the files have headers alone: all else is blanked, after it is in the database.
func (b *bench) nothingWaits() {
	b.tb.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		waiting := 0
		for _, name := range b.files() {
			_, lines, _ := bytes.Cut(must(os.ReadFile(filepath.Join(b.dir, name)))(b.tb), []byte{'\n'})
			waiting += len(bytes.TrimSpace(lines))
		}
		if waiting == 0 {
			return
		}
		if time.Now().After(end) {
			b.tb.Fatalf("%d bytes are still in files", waiting)
		}
	}
}

func (b *bench) sweep() {
	b.tb.Helper()
	check(b.tb, Sweep{Store: b.store}.Run(b.tb.Context()))
}

var numbers atomic.Int64

// number returns the next number for a session or a turn: they grow.
func number() int { return int(numbers.Add(1)) }

// conversation appends a session with two turns, and returns their numbers.
func conversation(l *Log, acpID string) (session int, turns [2]int) {
	session = number()
	l.Append(correlation.Opened{Session: session, Open: correlation.OpenSession{Harness: "claude", ACPID: acpID, Cwd: "/home/x",
		New: true}})
	for i, words := range []string{"one", "two"} {
		t := number()
		turns[i] = t
		l.Append(correlation.TurnBegan{Session: session, Turn: t}, correlation.UserSaid{Turn: t, Text: "user " + words},
			correlation.AssistantSaid{Turn: t, Text: "answer "},
			correlation.ToolUsed{Turn: t, Tool: correlation.ToolCall{ID: "a", Title: "reading", Kind: "read",
				Status: "pending"}}, correlation.AssistantSaid{Turn: t, Text: words},
			correlation.ToolUsed{Turn: t, Tool: correlation.ToolCall{ID: "a", Status: "completed", Locations: []string{"/x"},
				Milliseconds: 7}},
			correlation.UsageReported{Session: session, Turn: t,
				Usage: correlation.Usage{Reporter: "result", Input: ptr(int64(5)), Raw: []byte(`{"inputTokens":5}`)}},
			correlation.TurnEnded{Turn: t, Stop: "end_turn", Request: "3"})
	}
	return session, turns
}

func ptr[T any](v T) *T { return &v }

// found checks that a conversation is in the database, once.
func (b *bench) found(acpID string) correlation.Session {
	b.tb.Helper()
	v := must(b.store.Find(b.tb.Context(), "claude", acpID))(b.tb)
	turns := must(b.store.Book().Turns(b.tb.Context(), v.ID))(b.tb)
	if len(turns) != 2 {
		b.tb.Fatalf("%d turns, want 2", len(turns))
	}
	for i, words := range []string{"one", "two"} {
		t := turns[i]
		if t.User != "user "+words || t.Assistant != "answer "+words || t.Stop != "end_turn" || t.Ended.IsZero() ||
			t.Truncated {
			b.tb.Errorf("turn %d is %+v", i, t)
		}
		if len(t.Tools) != 1 || t.Tools[0].Title != "reading" || t.Tools[0].Status != "completed" ||
			t.Tools[0].Milliseconds != 7 || len(t.Tools[0].Locations) != 1 {
			b.tb.Errorf("tools of turn %d are %+v", i, t.Tools)
		}
	}
	if n := b.count("SELECT count(*) FROM usage WHERE session = ? AND input = 5 AND output IS NULL", v.ID); n != 2 {
		b.tb.Errorf("%d rows of usage, want 2", n)
	}
	if n := b.count("SELECT count(*) FROM events WHERE session = ?", v.ID); n != 9 {
		b.tb.Errorf("%d events, want 9", n)
	}
	return v
}
