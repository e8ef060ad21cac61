package eventlog_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
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
}

func newBench(tb testing.TB) *bench {
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

func (b *bench) options() Options {
	return Options{
		Dir:     b.dir,
		Process: correlation.ProcessInfo{Kind: correlation.Relay, Harness: "claude", Memory: "daemon"},
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

func (b *bench) sweep() Swept {
	b.tb.Helper()
	return must(Sweep{Store: b.store}.Run(b.tb.Context()))(b.tb)
}

// conversation appends a session with two turns, and gives their numbers.
func conversation(l *Log, acpID string) (session int, turns [2]int) {
	session = l.NewSession()
	l.Append(Opened{Session: session, Open: correlation.OpenSession{Harness: "claude", ACPID: acpID, Cwd: "/home/x",
		New: true}})
	for i, words := range []string{"one", "two"} {
		t := l.NewTurn()
		turns[i] = t
		l.Append(TurnBegan{Session: session, Turn: t}, UserSaid{Turn: t, Text: "user " + words},
			Said{Turn: t, Text: "answer "},
			ToolUsed{Turn: t, Tool: correlation.ToolCall{ID: "a", Title: "reading", Kind: "read",
				Status: "pending"}}, Said{Turn: t, Text: words},
			ToolUsed{Turn: t, Tool: correlation.ToolCall{ID: "a", Status: "completed", Locations: []string{"/x"},
				Milliseconds: 7}},
			UsageReported{Session: session, Turn: t,
				Usage: correlation.Usage{Reporter: "result", Input: ptr(int64(5)), Raw: []byte(`{"inputTokens":5}`)}},
			TurnEnded{Turn: t, Stop: "end_turn", Request: "3"})
	}
	return session, turns
}

func ptr[T any](v T) *T { return &v }

// found checks that a conversation is in the database, once.
func (b *bench) found(acpID string) correlation.Session {
	b.tb.Helper()
	v := must(b.store.Find(b.tb.Context(), "claude", acpID))(b.tb)
	turns := must(b.store.Turns(b.tb.Context(), v.ID))(b.tb)
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

// What is appended is in the database, and once it is, the file goes with its process.
func TestFolded(t *testing.T) {
	b := newBench(t)
	l := b.log(true)
	session, _ := conversation(l, "s")
	row := must(l.Row(t.Context(), session))(t)
	check(t, l.Folded(t.Context()))
	if v := b.found("s"); v.ID != row {
		t.Errorf("the row is %d, want %d", row, v.ID)
	}
	l.Append(ProcessEnded{Reason: "eof"})
	if left := must(l.Close(t.Context()))(t); left || len(b.files()) != 0 {
		t.Errorf("left: %t, files: %q", left, b.files())
	}
	b.found("s")
	if n := b.count("SELECT count(*) FROM deliveries WHERE done = 0"); n != 1 {
		t.Errorf("%d deliveries are owed, want 1", n)
	}
	if n := b.count("SELECT count(*) FROM event_files") + b.count("SELECT count(*) FROM event_turns"); n != 0 {
		t.Errorf("%d rows are left of the file", n)
	}
}

// What a process could not fold in is folded in by whoever comes next, however far it had come, and however it died.
func TestSweep(t *testing.T) {
	for _, attached := range []bool{false, true} {
		b := newBench(t)
		l := b.log(attached)
		conversation(l, "s")
		check(t, l.Flush(t.Context()))
		if did := b.sweep(); did.Events != 0 || len(b.files()) != 1 {
			t.Errorf("the file of a living process was taken: %+v", did)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the database gets nothing at the end
		left := must(l.Close(ctx))(t)
		if left != (len(b.files()) == 1) {
			t.Errorf("left: %t, files: %q", left, b.files())
		}
		b.sweep()
		b.found("s")
		if again := b.sweep(); again != (Swept{}) || len(b.files()) != 0 {
			t.Errorf("swept again: %+v, files: %q", again, b.files())
		}
		if n := b.count("SELECT count(*) FROM deliveries WHERE done = 0"); !attached && n != 1 {
			t.Errorf("%d deliveries are owed, want 1", n)
		}
	}
}

// A process that dies between the look at its file and the look at its lock is left to the next sweep, which takes its
// last words in first: else a part of its session would be handed over as the whole. One whose file nobody takes in has
// ended all the same.
func TestSweepBesideADeath(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		b := newBench(t)
		l := b.log(false)
		conversation(l, "s")
		check(t, l.Flush(t.Context()))
		must(Sweep{Store: b.store, Living: true}.Run(t.Context()))(t) // which makes the process known
		must(l.Close(t.Context()))(t)
		file := filepath.Join(b.dir, b.files()[0])
		if damaged {
			check(t, os.WriteFile(file, []byte("{}\n"), 0o600))
			b.sweep()
		} else {
			must(Sweep{Store: b.store, Except: l.Process()}.Run(t.Context()))(t) // as if it had looked at the file
		}
		if n := b.count("SELECT count(*) FROM deliveries"); n != 0 && !damaged || n != 1 && damaged {
			t.Errorf("damaged: %t: %d deliveries are owed", damaged, n)
		}
		if b.sweep(); b.count("SELECT count(*) FROM deliveries") != 1 {
			t.Errorf("damaged: %t: nothing is owed", damaged)
		}
	}
}

// Many fold the same file, living and dead, and each event counts once.
func TestSweepRace(t *testing.T) {
	b := newBench(t)
	l := b.log(true)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		db := must(migrations.Open(t.Context(), b.path))(t)
		defer db.Close()
		store := correlation.New(db, correlation.Options{LiveDir: b.dir})
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := (Sweep{Store: store, Living: true}).Run(t.Context())
				if err != nil && !errors.Is(err, sqlite.ErrBusy) { // the others may take it long on a busy machine
					t.Error(err)
				}
			}
		})
	}
	const sessions = 25
	ids := make([]int, sessions)
	for i := range ids {
		ids[i], _ = conversation(l, "s"+string(rune('a'+i)))
		must(l.Row(t.Context(), ids[i]))(t)
	}
	check(t, l.Folded(t.Context()))
	close(stop)
	wg.Wait()
	for i := range ids {
		b.found("s" + string(rune('a'+i)))
	}
}

// The end of a turn does not wait for its words, which follow.
func TestEndsFirst(t *testing.T) {
	b := newBench(t)
	l := b.log(false)
	session, turn := l.NewSession(), l.NewTurn()
	l.Append(Opened{Session: session, Open: correlation.OpenSession{Harness: "claude", ACPID: "s", New: true}},
		TurnBegan{Session: session, Turn: turn})
	for range 20 {
		l.Append(Said{Turn: turn, Text: strings.Repeat("word ", 4000)})
	}
	check(t, l.AppendWait(t.Context(), TurnEnded{Turn: turn, Stop: "end_turn"}))
	l.Append(ProcessEnded{Reason: "eof"})
	check(t, l.Flush(t.Context()))
	text := string(must(os.ReadFile(filepath.Join(b.dir, b.files()[0])))(t))
	if !strings.Contains(text[strings.Index(text, `"kind":"turn_ended"`):], `"kind":"assistant_said"`) {
		t.Log("the end had no words to overtake: the writer was faster")
	}
	if i := strings.Index(text, `"kind":"process_ended"`); i < strings.LastIndex(text, `"kind":"assistant_said"`) {
		t.Error("the process ended before its words")
	}
	l.Attach(b.store)
	check(t, l.Folded(t.Context()))
	v := must(b.store.Find(t.Context(), "claude", "s"))(t)
	got := must(b.store.Turns(t.Context(), v.ID))(t)[0]
	if !got.Truncated || !strings.Contains(got.Assistant, "bytes left out …]") || len(got.Assistant) > 120<<10 ||
		len(got.Assistant) < 96<<10 {
		t.Errorf("%d bytes, truncated: %t", len(got.Assistant), got.Truncated)
	}
}

// What is not a whole line of this version is not in the way of what is.
func TestStrangeLines(t *testing.T) {
	b := newBench(t)
	l := b.log(false)
	session, _ := conversation(l, "s")
	check(t, l.Flush(t.Context()))
	path := filepath.Join(b.dir, b.files()[0])
	f := must(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
	for _, line := range []string{
		`{"at":1,"kind":"dreamt","session":1,"of":"sheep"}` + "\n", // a newer version's: kept
		`{"at":1,"kind":"dreamt","session":77}` + "\n",             // of nobody
		"no JSON\n", "\n", `{"at":1}` + "\n", `{"at":"x","kind":"turn_ended","turn":1}` + "\n", "\x00\x00\x00\n",
		// too long for anybody
		`{"at":1,"kind":"assistant_said","turn":1,"text":"` + strings.Repeat("x", 3<<20) + `"}` + "\n",
		`{"at":1,"kind":"turn_ended","turn":99}` + "\n",
		`{"at":1,"kind":"record_known","session":1,"record":"r"}` + "\n",
		`{"at":1,"kind":"record_known","session":1,"record":"torn`, // was being written
	} {
		must(f.WriteString(line))(t)
	}
	check(t, f.Close())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(l.Close(ctx))(t)
	b.sweep()
	v := must(b.store.Find(t.Context(), "claude", "s"))(t)
	if v.Record != "r" {
		t.Errorf("the record is %q", v.Record)
	}
	if n := b.count(`SELECT count(*) FROM events WHERE kind = 'dreamt' AND session = ? AND data ->> 'of' = 'sheep'`,
		v.ID); n != 1 {
		t.Errorf("%d unknown events, want 1", n)
	}
	if len(b.files()) != 0 || session != 1 {
		t.Errorf("files: %q", b.files())
	}
}

// A file that is not ours to read is left alone.
func TestLeftAlone(t *testing.T) {
	b := newBench(t)
	check(t, os.MkdirAll(b.dir, 0o700))
	for name, text := range map[string]string{
		"01K00000000000000000000000.1.events": `{"eventlog":2,"at":1,"process":{"id":"01K00000000000000000000000"}}` +
			"\n" + `{"at":1,"kind":"x"}` + "\n",
		"01K00000000000000000000001.1.events": "something else\n",
		"01K00000000000000000000002.1.events": `{"eventlog":1,"at":1,"process":{"id":"another"}}` + "\n",
		"notes.events":                        "x",
		"x.y.events":                          "x",
	} {
		check(t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
	}
	check(t, os.Symlink("/etc/passwd", filepath.Join(b.dir, "01K00000000000000000000003.1.events")))
	left, files := 3, 6
	if os.Geteuid() == 0 { // who else could give a file away
		another := filepath.Join(b.dir, "01K00000000000000000000005.1.events")
		check(t, os.WriteFile(another, []byte(`{"eventlog":1,"at":1,"process":{"id":"01K00000000000000000000005"}}`+
			"\n"+`{"at":1,"kind":"daemon_answered","signetPath":"/x","url":"http://theirs"}`+"\n"), 0o600))
		check(t, os.Chown(another, 1, 1))
		left, files = left+1, files+1
	}
	if did := b.sweep(); did != (Swept{LeftAlone: left}) || len(b.files()) != files ||
		b.count("SELECT count(*) FROM daemon_seen") != 0 {
		t.Errorf("%+v, files: %q", did, b.files())
	}
	// One that died while it began its file.
	check(t, os.WriteFile(filepath.Join(b.dir, "01K00000000000000000000004.1.events"), []byte(`{"eventlog":1,"at"`),
		0o600))
	if did := b.sweep(); did.Files != 1 || len(b.files()) != files {
		t.Errorf("%+v, files: %q", did, b.files())
	}
}

// Two processes that are given one id do not write into one file.
func TestTwoOfOneID(t *testing.T) {
	b := newBench(t)
	o := b.options()
	o.Process.ID = correlation.NewProcessID()
	first := must(Open(o))(t)
	second := must(Open(o))(t)
	if first.Process() != o.Process.ID || second.Process() == first.Process() {
		t.Errorf("they are %s and %s", first.Process(), second.Process())
	}
	for _, l := range []*Log{first, second} {
		conversation(l, l.Process())
		l.Attach(b.store)
		if left := must(l.Close(t.Context()))(t); left {
			t.Error("something is left")
		}
		b.found(l.Process())
	}
}

// A clock that goes back does not put turns in another order.
func TestClockJumps(t *testing.T) {
	b := newBench(t)
	o := b.options()
	now := time.Now()
	var mu sync.Mutex
	o.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(-time.Hour)
		return now
	}
	l := must(Open(o))(t)
	conversation(l, "s")
	l.Attach(b.store)
	must(l.Close(t.Context()))(t)
	v := b.found("s")
	turns := must(b.store.Turns(t.Context(), v.ID))(t)
	if turns[1].Started.Before(turns[0].Started) || turns[1].Ended.Before(turns[1].Started) {
		t.Errorf("turns of %v and %v", turns[0].Started, turns[1].Started)
	}
}

// Of a session that a person has had forgotten nothing more is kept, and the process hears of it.
func TestForgotten(t *testing.T) {
	b := newBench(t)
	l := b.log(true)
	session, turns := conversation(l, "s")
	row := must(l.Row(t.Context(), session))(t)
	check(t, l.Folded(t.Context()))
	must(b.store.Forget(t.Context(), row, nil))(t)
	l.Append(Said{Turn: turns[1], Text: "more"}, RecordKnown{Session: session, Record: "r"})
	check(t, l.Folded(t.Context()))
	if n := b.count("SELECT count(*) FROM turns") + b.count("SELECT count(*) FROM events") +
		b.count("SELECT count(*) FROM usage"); n != 0 {
		t.Errorf("%d rows came back", n)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.gone) != 1 || b.gone[0] != session {
		t.Errorf("gone are %v", b.gone)
	}
	if _, err := l.Row(t.Context(), session); !errors.Is(err, correlation.ErrNotFound) {
		t.Errorf("its row: %v", err)
	}
}

// What may be wrong with a folder or a disk is an error of Open, with which its caller goes on without memory.
func TestCannotBegin(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "live"), nil, 0o600))
	if _, err := Open(Options{Dir: filepath.Join(dir, "live")}); err == nil {
		t.Error("a file was taken for a folder")
	}
	if os.Geteuid() != 0 { // root may write anywhere
		check(t, os.Mkdir(filepath.Join(dir, "closed"), 0o500))
		if _, err := Open(Options{Dir: filepath.Join(dir, "closed")}); !errors.Is(err, sqlite.ErrReadOnly) {
			t.Errorf("in a folder that is closed: %v", err)
		}
	}
}
