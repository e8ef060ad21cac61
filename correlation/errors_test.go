package correlation_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What the real driver says when something is wrong with the file, and what is made of it.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault func(b *bench)
		want  error
	}{
		{"read-only", func(b *bench) {
			db := must(sql.Open(migrations.DriverName,
				"file:"+filepath.Join(b.dir, "acp", "sessions.db")+"?mode=ro"))(b.tb)
			b.tb.Cleanup(func() { check(b.tb, db.Close()) })
			b.Store = New(db, Options{Now: b.clock.Now})
		}, sqlite.ErrReadOnly},
		{"full", func(b *bench) {
			_, err := b.db.ExecContext(b.ctx(), "VACUUM") // tables that were dropped leave pages
			check(b.tb, err)
			_, err = b.db.ExecContext(b.ctx(), fmt.Sprintf("PRAGMA max_page_count = %d", b.count("PRAGMA page_count")))
			check(b.tb, err)
		}, sqlite.ErrFull},
		{"damaged", func(b *bench) {
			_, err := b.db.ExecContext(b.ctx(), "PRAGMA wal_checkpoint(TRUNCATE)")
			check(b.tb, err)
			check(b.tb, b.db.Close())
			path := filepath.Join(b.dir, "acp", "sessions.db")
			bytes := must(os.ReadFile(path))(b.tb)
			for i := 4096; i < len(bytes); i++ { // all but the first page
				bytes[i] = 0xa5
			}
			check(b.tb, os.WriteFile(path, bytes, 0o600))
			b.db = must(sql.Open(migrations.DriverName, "file:"+path))(b.tb)
			b.tb.Cleanup(func() { check(b.tb, b.db.Close()) })
			b.Store = New(b.db, Options{Now: b.clock.Now})
		}, sqlite.ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			v := b.open(OpenSession{ACPID: "s"})
			tt.fault(b)
			err := correlationtest.Save(t.Context(), b.Store, []Turn{{Session: v.ID, User: strings.Repeat("x", 1<<16)}})
			if !errors.Is(err, tt.want) {
				t.Errorf("err = %v, want %v", err, tt.want)
			}
			if strings.Contains(fmt.Sprint(err), "\n") {
				t.Errorf("%q is more than one line", err)
			}
		})
	}
}

// Whatever statement fails, whoever asked is told, and nothing is changed by halves: of every method, with arguments
// that mean something to most.
func TestStatementsFail(t *testing.T) {
	b := newBench(t)
	p := b.register(ProcessInfo{Memory: "daemon", Hook: true, SignetPath: "s"})
	v := b.open(OpenSession{Harness: "s", ACPID: "s", Record: "s", Cwd: "s", Project: "s", Process: p.ID()})
	next := b.open(OpenSession{Harness: "s", ACPID: "next", New: true, ContinueOf: v.ID, Process: p.ID()})
	b.open(OpenSession{Harness: "s", ACPID: "fork", New: true, ForkOf: v.ID, Process: p.ID()})
	check(t, b.happen(p.ID(), DaemonAnswered{SignetPath: "s", URL: "s", Version: "1"}, KeyStarted{Key: v.Key},
		KeyStarted{Key: "s"}, Summarised{Session: 1, Text: "s"}, Injected{Session: 1, Injection: Injection{Kind: "context",
			BlockID: "s", Key: v.Key, Text: "s"}}))
	b.turn(v.ID, p.ID(), "s", "s")
	b.turn(next.ID, p.ID(), "s", "s")
	check(t, p.End(t.Context(), "ended"))
	another := b.register(ProcessInfo{Memory: "daemon"})
	dead := b.died(ProcessInfo{Memory: "daemon"})
	b.open(OpenSession{Harness: "s", ACPID: "dead", Process: dead})
	b.openTurn(4, dead, "s", "s")
	must(b.db.Exec(`UPDATE processes SET ended = 1 WHERE id = ?`, b.died(ProcessInfo{})))(t) // long ago
	b.clock.Advance(2 * time.Hour)
	taken := b.takeUp()
	post := b.attempt(taken)

	w := correlationtest.Walk{Opened: b.db, Path: filepath.Join(b.dir, "acp", "sessions.db"), InSteps: []string{"Expire", "SweepDead"},
		Values: []any{t.Context(), "s", v.ID, 1, []string{"s", v.Key}, []int64{v.ID}, taken, post, []State{Armed},
			b.clock.Now(), ProcessInfo{Memory: "daemon", SignetPath: "s"}, time.Minute, v, OpenSession{Harness: "s", ACPID: "s"},
			Injection{Key: v.Key, Kind: "context", Text: "s"}, PruneOptions{Before: b.clock.Now()}}}
	for _, of := range []func(*Store) any{func(s *Store) any { return s }, func(s *Store) any { return s.Book() },
		func(s *Store) any { return s.Debts() }, func(s *Store) any { return s.Process(p.ID()) },
		func(s *Store) any { return happenings{&bench{Store: s, tb: t}, another.ID()} }} {
		w.Every(t, func(db *sql.DB, path string) any {
			return of(New(db, Options{LiveDir: filepath.Join(b.dir, "acp", "live"), Path: path, Now: b.clock.Now}))
		})
	}
}

// happenings are events as a method.
type happenings struct {
	b       *bench
	process string
}

func (h happenings) Happen(context.Context) error {
	usage := Usage{Reporter: "result", Raw: []byte(`{}`)}
	return h.b.happen(h.process,
		Opened{Session: 1, Open: OpenSession{Harness: "s", ACPID: "happens", New: true}},
		Opened{Session: 2, Fork: 1, Open: OpenSession{Harness: "s", ACPID: "happens too", New: true}},
		Opened{Session: 3, Continues: 1, Open: OpenSession{Harness: "s", ACPID: "s", New: true}},
		KeyStarted{Key: "happens"}, Rekeyed{Session: 1, Key: "s 2", Spent: "s 1"}, RecordKnown{Session: 1, Record: "happens"},
		ParentKnown{Session: 2, Key: "s 2"}, Titled{Session: 1, Title: "s"}, Warned{Session: 1, Text: "s"},
		ContextStored{Session: 1, Key: "s 2", Context: []byte(`{}`)}, ContextDropped{Session: 1},
		Unclaimed{Session: 1, From: Armed, Injection: Injection{Key: "s 2", Kind: "context", Text: "s"}},
		Injected{Session: 1, Injection: Injection{Key: "s 2", Kind: "system", Text: "s"}},
		TurnBegan{Session: 1, Turn: 1, Key: "s 2"}, UserSaid{Turn: 1, Text: "s"}, AssistantSaid{Turn: 1, Text: "s"},
		ToolUsed{Turn: 1, Tool: ToolCall{ID: "a", Title: "s"}}, ToolUsed{Turn: 1, Tool: ToolCall{ID: "a", Status: "completed"}},
		Noted{Turn: 1, What: "s"}, UsageReported{Session: 1, Turn: 1, Usage: usage}, UsageReported{Session: 1, Usage: usage},
		TurnEnded{Turn: 1, Stop: "end_turn"}, Stepped{Session: 1, Step: Step{Name: Answered, From: Armed}},
		Compacting{Session: 1}, Summarised{Session: 1, Text: "s"}, DaemonAnswered{SignetPath: "s", URL: "t", Version: "2"},
		TurnBegan{Session: 2, Turn: 2}, AssistantSaid{Turn: 2, Text: "s"}, Closed{Session: 2, Reason: "s"},
		ProcessEnded{Reason: "s"})
}
