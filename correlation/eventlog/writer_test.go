package eventlog_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Our folder is removed while we live: what was said is in a new file, with the session that it belongs to, and others
// see that we live.
func TestFolderRemoved(t *testing.T) {
	b := newBench(t)
	l := b.log(false)
	session, _ := conversation(l, "s")
	check(t, l.Flush(t.Context()))
	check(t, os.RemoveAll(b.dir))
	inTheWay := filepath.Join(b.dir, l.Process()+".lock")
	check(t, os.MkdirAll(inTheWay, 0o700)) // for a moment
	l.Append(correlation.KeyStarted{Key: "k"})
	check(t, l.Flush(t.Context()))
	b.mu.Lock()
	if len(b.told) != 1 || !strings.HasPrefix(b.told[0], "this conversation cannot be saved: ") {
		t.Errorf("told: %q", b.told)
	}
	b.mu.Unlock()
	check(t, os.Remove(inTheWay))
	turn := number()
	l.Append(correlation.TurnBegan{Session: session, Turn: turn}, correlation.UserSaid{Turn: turn, Text: "is anybody there?"})
	check(t, l.AppendWait(t.Context(), correlation.TurnEnded{Turn: turn, Stop: "end_turn"}))
	if !correlation.Alive(b.dir, l.Process()) {
		t.Error("it counts as dead")
	}
	must(l.Close(t.Context()))(t)
	b.sweep()
	turns := must(b.store.Book().Turns(t.Context(), must(b.store.Find(t.Context(), "claude", "s"))(t).ID))(t)
	if len(turns) != 3 || turns[0].User != "user one" || turns[2].User != "is anybody there?" ||
		turns[2].Stop != "end_turn" {
		t.Errorf("%+v", turns)
	}
}

// The file alone is removed: what was said is in a new one.
func TestFileRemoved(t *testing.T) {
	b := newBench(t)
	l := b.log(false)
	conversation(l, "s")
	check(t, l.Flush(t.Context()))
	check(t, os.Remove(filepath.Join(b.dir, b.files()[0])))
	conversation(l, "later")
	must(l.Close(t.Context()))(t)
	b.sweep()
	b.found("s")
	b.found("later")
}

// What is written again when the folder was removed is what was said last, and how the open sessions were opened.
func TestFolderRemovedLate(t *testing.T) {
	words := strings.Repeat("word ", 1000)
	for name, tt := range map[string]struct {
		events, size int // said, of so many bytes of text
		least, most  int // of them that are written again
	}{
		"many":  {1000, 0, 250, 512},
		"long":  {200, len(words), 20, 55},
		"short": {20, 0, 20, 20},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			l := b.log(false)
			open, closed := number(), number()
			for _, session := range []int{open, closed} {
				l.Append(correlation.Opened{Session: session, Open: correlation.OpenSession{Harness: "claude",
					ACPID: fmt.Sprint("s", session), New: true}})
			}
			l.Append(correlation.Closed{Session: closed})
			for range tt.events {
				l.Append(correlation.AssistantSaid{Turn: 1, Text: words[:tt.size]})
				check(t, l.Flush(t.Context()))
			}
			check(t, TakeIn(t.Context(), b.store, zerolog.Nop())) // which erases what the old file has
			check(t, os.RemoveAll(b.dir))
			l.Append(correlation.ProcessEnded{Reason: "eof"})
			check(t, l.Flush(t.Context()))
			text := string(must(os.ReadFile(filepath.Join(b.dir, b.files()[0])))(t))
			n := strings.Count(text, `"kind":"assistant_said"`)
			if first, _, _ := strings.Cut(text, `"kind":"assistant_said"`); n < tt.least || n > tt.most ||
				strings.Count(first, `"kind":"session_opened","session":1,`) != 1 ||
				n < tt.events && strings.Contains(first, `"session":2,`) {
				t.Errorf("%d are there again, behind %q", n, first)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if len(b.told) != 1 || !strings.HasSuffix(b.told[0], "was removed: recording continues in a new one, with the last turns") {
				t.Errorf("told: %q", b.told)
			}
		})
	}
}

// Lines that the database does not take, and what is no line of ours, are kept aside, however many there are; what
// stands around them is taken in. Where the schema is to blame, all of it waits.
func TestRefusedLines(t *testing.T) {
	b := newBench(t)
	if _, err := b.db.Exec(`CREATE TRIGGER refuse BEFORE UPDATE OF record ON sessions WHEN new.record LIKE 'poison%'
		BEGIN SELECT RAISE(ABORT, 'no'); END`); err != nil {
		t.Fatal(err)
	}
	l := b.log(false)
	session, _ := conversation(l, "s")
	for _, record := range []string{"poison 1", "poison 2", "poison 3", "r"} {
		l.Append(correlation.RecordKnown{Session: session, Record: record})
	}
	must(l.Close(t.Context()))(t)
	file := filepath.Join(b.dir, b.files()[0])
	text := must(os.ReadFile(file))(t)
	check(t, os.WriteFile(file, append(text, "{\"at\":1,\"kind\":7}\n"...), 0o600))
	broken := correlation.New(b.db, correlation.Options{LiveDir: b.dir,
		Schema: func(context.Context, *sql.DB) error { return sqlite.ErrSchema }})
	if err := (Sweep{Store: broken}).Run(t.Context()); !errors.Is(err, sqlite.ErrSchema) {
		t.Errorf("with a broken schema: %v", err)
	}
	if len(b.files()) != 1 {
		t.Errorf("with a broken schema: %q", b.files())
	}
	if b.sweep(); len(b.files()) != 0 {
		t.Errorf("files: %q", b.files())
	}
	if r := must(b.store.Book().Refused(t.Context()))(t); r.Lines != 4 || !strings.HasPrefix(r.Reason, "json: ") ||
		r.Last.IsZero() {
		t.Errorf("kept aside: %+v", r)
	}
	if n := b.count(`SELECT count(*) FROM events WHERE kind = 'refused' AND session > 0 AND data ->> 'line' LIKE '{%poison%}'
		AND data ->> 'reason' LIKE '%: no%'`); n != 3 {
		t.Errorf("%d lines are kept with their session and the reason", n)
	}
	if n := b.count("SELECT count(*) FROM sessions WHERE record = 'r'"); n != 1 {
		t.Errorf("%d sessions have the record that came last", n)
	}
	check(t, b.store.EmptyEvents(t.Context()))
	if n := b.count("SELECT count(*) FROM events WHERE kind = 'refused' AND data ->> 'reason' <> '' AND data ->> 'line' IS NULL"); n != 4 {
		t.Errorf("%d lines are emptied", n)
	}
	must(b.store.Forget(t.Context(), must(b.store.Find(t.Context(), "claude", "s"))(t).ID, nil))(t)
	if r := must(b.store.Book().Refused(t.Context()))(t); r != (correlation.Refusal{}) {
		t.Errorf("after the session was forgotten: %+v", r)
	}
}
