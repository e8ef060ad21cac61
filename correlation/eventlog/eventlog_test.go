package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What is appended is in the database.
func TestFolded(t *testing.T) {
	b := newBench(t)
	l := b.log(true)
	session, _ := conversation(l, "s")
	row := must(l.Row(t.Context(), session))(t)
	check(t, l.Folded(t.Context()))
	if v := b.found("s"); v.ID != row {
		t.Errorf("the row is %d, want %d", row, v.ID)
	}
	l.Append(correlation.ProcessEnded{Reason: "eof"})
	if left := must(l.Close(t.Context()))(t); left || len(b.files()) != 0 {
		t.Errorf("left: %t, files: %q", left, b.files())
	}
	b.found("s")
	if n := b.count("SELECT count(*) FROM debts WHERE done = 0"); n != 1 {
		t.Errorf("%d deliveries are owed, want 1", n)
	}
	if len(b.told) != 0 {
		t.Errorf("told: %q", b.told)
	}
	if n := b.count("SELECT count(*) FROM attachments WHERE closed = 0"); n != 0 {
		t.Errorf("%d sessions are held by nobody", n)
	}
}

// The end of a turn stands behind its words, and who waits for it has waited for them.
func TestEndsLast(t *testing.T) {
	b := newBench(t)
	l := b.log(false)
	session, turn := number(), number()
	l.Append(correlation.Opened{Session: session, Open: correlation.OpenSession{Harness: "claude", ACPID: "s", New: true}},
		correlation.TurnBegan{Session: session, Turn: turn})
	for range 7 {
		l.Append(correlation.AssistantSaid{Turn: turn, Text: strings.Repeat("word ", 4000)})
	}
	check(t, l.AppendWait(t.Context(), correlation.TurnEnded{Turn: turn, Stop: "end_turn"}))
	l.Append(correlation.ProcessEnded{Reason: "eof"})
	check(t, l.Flush(t.Context()))
	text := string(must(os.ReadFile(filepath.Join(b.dir, b.files()[0])))(t))
	if strings.Contains(text[strings.Index(text, `"kind":"turn_ended"`):], `"kind":"assistant_said"`) {
		t.Error("the turn ended before its words")
	}
	if header, _, _ := strings.Cut(text, "\n"); !strings.Contains(header, fmt.Sprintf(`"pid":%d,`, os.Getpid())) {
		t.Errorf("the header is %s", header)
	}
	if i := strings.Index(text, `"kind":"process_ended"`); i < strings.LastIndex(text, `"kind":"assistant_said"`) {
		t.Error("the process ended before its words")
	}
	l.Attach(b.store)
	check(t, l.Folded(t.Context()))
	v := must(b.store.Find(t.Context(), "claude", "s"))(t)
	got := must(b.store.Book().Turns(t.Context(), v.ID))(t)[0]
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
		`{"at":1,"n":101,"kind":"dreamt","session":1,"of":"sheep"}` + "\n", // a newer version's: kept
		`{"at":1,"n":102,"kind":"dreamt","session":77}` + "\n",             // of nobody
		"no JSON\n", "\n", `{"at":1}` + "\n", "no JSON\n", `{"at":"x","kind":"turn_ended","turn":1}` + "\n", "\x00\x00\x00\n",
		// too long for anybody
		`{"at":1,"kind":"assistant_said","turn":1,"text":"` + strings.Repeat("x", 3<<20) + `"}` + "\n",
		strings.Repeat("y", 3<<20) + "\n",
		`{"at":1,"n":102,"kind":"turn_ended","turn":99}` + "\n",
		`{"at":1,"n":103,"kind":"record_known","session":1,"record":"r"}` + "\n",
		`{"at":1,"n":104,"kind":"record_known","session":1,"record":"` + strings.Repeat("torn", 1<<20), // was being written
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
	check(t, b.store.EmptyEvents(t.Context())) // it may hold text, as far as we know
	if n := b.count(`SELECT count(*) FROM events WHERE data = '{}'`); n != 1 {
		t.Errorf("%d events have no fields, want the unknown one alone", n)
	}
	if r := must(b.store.Book().Refused(t.Context()))(t); len(b.files()) != 0 || session != 1 || r.Lines != 7 {
		t.Errorf("files: %q, kept aside: %+v", b.files(), r)
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
		"01K00000000000000000000006.1.events": `{"eventlog":0,"at":1,"process":{"id":"01K00000000000000000000006"}}` + "\n",
		"01K00000000000000000000007.1.events": `{"eventlog":1,"at":1,"process":{}}` + "\n",
		"01K00000000000000000000008.events":   strings.Repeat("x", 16<<10), // no header is so long
		"notes.events":                        "x",
		"x.y.events":                          "x",
		".1.events":                           "x",
	} {
		check(t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
	}
	check(t, os.Symlink("/etc/passwd", filepath.Join(b.dir, "01K00000000000000000000003.1.events")))
	left, files := 6, 10
	if os.Geteuid() == 0 { // who else could give a file away
		another := filepath.Join(b.dir, "01K00000000000000000000005.1.events")
		check(t, os.WriteFile(another, []byte(`{"eventlog":1,"at":1,"process":{"id":"01K00000000000000000000005"}}`+
			"\n"+`{"at":1,"kind":"daemon_answered","signetPath":"/x","url":"http://theirs"}`+"\n"), 0o600))
		check(t, os.Chown(another, 1, 1))
		left, files = left+1, files+1
	}
	if b.sweep(); len(b.files()) != files || b.count("SELECT count(*) FROM noted") != 0 {
		t.Errorf("files: %q", b.files())
	}
	alone := fmt.Sprint(must(LeftAlone(b.dir))(t))
	for why, files := range map[string]int{"written by a newer version": 1, "owned by another user": left - 6,
		"no file of events": 5} {
		if strings.Count(alone, why) != files {
			t.Errorf("left alone, not %d times %q: %v", files, why, alone)
		}
	}
	if strings.Contains(alone, "invalid argument") {
		t.Errorf("a file was not closed: %v", alone)
	}
	// One that died while it began its file.
	check(t, os.WriteFile(filepath.Join(b.dir, "01K00000000000000000000004.1.events"), []byte(`{"eventlog":1,"at"`),
		0o600))
	if b.sweep(); len(b.files()) != files {
		t.Errorf("files: %q", b.files())
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
	turns := must(b.store.Book().Turns(t.Context(), v.ID))(t)
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
	l.Append(correlation.AssistantSaid{Turn: turns[1], Text: "more"}, correlation.RecordKnown{Session: session, Record: "r"})
	check(t, l.Folded(t.Context()))
	if n := b.count("SELECT count(*) FROM turns") + b.count("SELECT count(*) FROM events") +
		b.count("SELECT count(*) FROM usage"); n != 0 {
		t.Errorf("%d rows came back", n)
	}
	if _, err := l.Row(t.Context(), session); !errors.Is(err, correlation.ErrNotFound) {
		t.Errorf("its row: %v", err)
	}
	must(l.Close(t.Context()))(t) // the process hears of it after who waits for the row
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.gone) != 1 || b.gone[0] != session {
		t.Errorf("gone are %v", b.gone)
	}
}

// While its file cannot be made nobody waits for what is said, and a person is told once; what was said is there once it
// can.
func TestCannotWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		o := b.options()
		o.Process.ID = correlation.NewProcessID()
		file := filepath.Join(b.dir, o.Process.ID+".events")
		check(t, os.MkdirAll(file, 0o700))
		l := must(Open(o))(t)
		conversation(l, "s")
		began := time.Now()
		for what, err := range map[string]error{"AppendWait": l.AppendWait(t.Context(), correlation.KeyStarted{Key: "k"}),
			"Flush": l.Flush(t.Context()), "Folded": l.Folded(t.Context())} {
			if !errors.Is(err, ErrNotWritten) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it was waited for %v", took)
		}
		check(t, os.Remove(file))
		time.Sleep(time.Second)
		check(t, l.Flush(t.Context()))
		l.Attach(b.store)
		check(t, l.Folded(t.Context()))
		b.found("s")
		if left := must(l.Close(t.Context()))(t); left {
			t.Error("something is left")
		}
		if told := b.told; len(told) != 1 || !strings.HasPrefix(told[0], "this conversation cannot be saved: ") {
			t.Errorf("told: %q", told)
		}
	})
}

// A mistake is an event that cannot be written.
type mistake struct {
	correlation.KeyStarted
	panics bool
}

func (m mistake) MarshalJSON() ([]byte, error) {
	if m.panics {
		panic("a mistake")
	}
	return nil, errors.New("a mistake")
}

// A mistake of ours costs what it is made with, which is told, and nobody waits for that; the rest is there.
func TestMistakes(t *testing.T) {
	guard.Report(func(guard.Panic) {})
	defer guard.Report(func(p guard.Panic) { panic(p.What) })
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		l := b.log(false)
		conversation(l, "before")
		check(t, l.Flush(t.Context()))
		began := time.Now()
		if err := l.AppendWait(t.Context(), mistake{panics: true}); !errors.Is(err, ErrNotWritten) || time.Since(began) > 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		l.Append(mistake{})
		conversation(l, "after")
		must(l.Close(t.Context()))(t)
		b.sweep()
		b.found("before")
		b.found("after")
		if len(b.told) != 1 || !strings.HasPrefix(b.told[0], "1 events (0 bytes of text)") {
			t.Errorf("told: %q", b.told)
		}
	})
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
