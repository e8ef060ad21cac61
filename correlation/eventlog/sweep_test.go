package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What a process could not fold in is folded in by whoever comes next, however far it had come, and however it died.
func TestSweep(t *testing.T) {
	for _, attached := range []bool{false, true} {
		b := newBench(t)
		l := b.log(attached)
		conversation(l, "s")
		check(t, l.Flush(t.Context()))
		if b.sweep(); !attached && (len(b.files()) != 1 || b.count("SELECT count(*) FROM turns") != 0) {
			t.Errorf("the file of a living process was taken: %q", b.files())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the database gets nothing at the end
		left := must(l.Close(ctx))(t)
		if left != (len(b.files()) == 1) {
			t.Errorf("left: %t, files: %q", left, b.files())
		}
		b.sweep()
		b.found("s")
		if b.sweep(); len(b.files()) != 0 {
			t.Errorf("files: %q", b.files())
		}
		b.found("s")
		if n := b.count("SELECT count(*) FROM debts WHERE done = 0"); !attached && n != 1 {
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
		check(t, Sweep{Store: b.store, Living: true}.Run(t.Context())) // which makes the process known
		must(l.Close(t.Context()))(t)
		file := filepath.Join(b.dir, b.files()[0])
		if damaged {
			check(t, os.WriteFile(file, []byte("{}\n"), 0o600))
			b.sweep()
			if TakeIn(t.Context(), b.store, zerolog.Nop()) == nil {
				t.Error("what is in a damaged file counts as erased")
			}
		} else {
			check(t, Sweep{Store: b.store, Except: l.Process()}.Run(t.Context())) // as if it had looked at the file
		}
		if n := b.count("SELECT count(*) FROM debts"); n != 0 && !damaged || n != 1 && damaged {
			t.Errorf("damaged: %t: %d deliveries are owed", damaged, n)
		}
		if b.sweep(); b.count("SELECT count(*) FROM debts") != 1 {
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
				err := (Sweep{Store: store, Living: true}).Run(t.Context())
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

// A process of an earlier version wrote all into its own files, and perhaps still does, though the database's tables
// are not those that it knows: whoever comes takes them in, from where they were taken in before, each event once.
func TestEarlierVersion(t *testing.T) {
	b := newBench(t)
	id := correlation.NewProcessID()
	lock := must(correlation.TakeLock(b.dir, id))(t)
	write := func(number int, lines ...string) {
		t.Helper()
		path := filepath.Join(b.dir, fmt.Sprintf("%s.%d.events", id, number))
		f := must(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
		if info := must(f.Stat())(t); info.Size() == 0 {
			must(fmt.Fprintf(f, `{"eventlog":1,"at":5,"process":{"id":%q,"kind":"relay","memory":"daemon"}}`+"\n", id))(t)
		}
		must(f.WriteString(strings.Join(lines, "\n") + "\n"))(t)
		check(t, f.Close())
	}
	said := func(text string) string { return `{"at":9,"kind":"assistant_said","turn":1,"text":"` + text + `"}` }
	takeIn := func() { t.Helper(); check(t, TakeIn(t.Context(), b.store, zerolog.Nop())) }
	write(1, `{"at":6,"kind":"session_opened","session":1,"open":{"harness":"claude","acpId":"old","new":true}}`,
		`{"at":7,"kind":"turn_began","session":1,"turn":1}`, said("a"))
	takeIn()
	write(1, said("b"), "no event")
	takeIn()
	takeIn()
	write(10, said("d"))
	write(2, said("c"))
	takeIn()
	if n := b.count("SELECT count(*) FROM processes WHERE ended = 0"); n != 1 || len(b.files()) != 3 {
		t.Errorf("%d processes live, files: %q", n, b.files())
	}
	write(10, said("e"), `{"at":9,"kind":"turn_ended","turn":1,"stop":"end_turn"}`, `{"at":9,"kind":"turn_en`)
	check(t, lock.Release())
	if b.sweep(); len(b.files()) != 0 {
		t.Errorf("files: %q", b.files())
	}
	v := must(b.store.Find(t.Context(), "claude", "old"))(t)
	turns := must(b.store.Book().Turns(t.Context(), v.ID))(t)
	if len(turns) != 1 || turns[0].Assistant != "abcde" || turns[0].Stop != "end_turn" ||
		b.count("SELECT count(*) FROM debts") != 1 || b.count("SELECT count(*) FROM events WHERE kind = 'refused'") != 2 {
		t.Errorf("%+v, %d deliveries", turns, b.count("SELECT count(*) FROM debts"))
	}
}

// Whoever is killed between taking a file in and erasing it leaves what the next one knows by its numbers.
func TestTakenInTwice(t *testing.T) {
	b := newBench(t)
	l := b.log(false)
	conversation(l, "s")
	check(t, l.Flush(t.Context()))
	file := filepath.Join(b.dir, b.files()[0])
	text := must(os.ReadFile(file))(t)
	for range 2 {
		check(t, TakeIn(t.Context(), b.store, zerolog.Nop()))
		b.found("s")
		check(t, os.WriteFile(file, text, 0o600))
	}
	must(l.Close(t.Context()))(t)
	if b.sweep(); len(b.files()) != 0 {
		t.Errorf("files: %q", b.files())
	}
	b.found("s")
}

// What was begun after one asked is not done again; what failed is, but not what a deadline cut short.
func TestTogether(t *testing.T) {
	failed := errors.New("failed")
	did := func(context.CancelFunc) error { return nil }
	for name, tt := range map[string]struct {
		last    time.Duration // when it was begun last, from when it is asked; 0: never
		marked  string        // what the file says of that
		work    func(context.CancelFunc) error
		err     error
		works   int
		done    bool // for who asked before
		nowhere bool
	}{
		"nowhere":                  {nowhere: true, err: fs.ErrNotExist},
		"done":                     {work: did, works: 1, done: true},
		"done before":              {last: -time.Hour, marked: "x", work: did, works: 1, done: true},
		"done meanwhile":           {last: time.Hour, marked: "x", done: true},
		"begun meanwhile":          {last: time.Hour, work: did, works: 1, done: true},
		"failed":                   {work: func(context.CancelFunc) error { return failed }, err: failed, works: 1},
		"stopped":                  {work: func(stop context.CancelFunc) error { stop(); return nil }, err: context.Canceled, works: 1},
		"as far as there was time": {work: func(context.CancelFunc) error { time.Sleep(time.Hour); return failed }, err: failed, works: 1, done: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file, works := filepath.Join(t.TempDir(), "turn"), 0
				if tt.nowhere {
					file = filepath.Join(file, "turn")
				}
				if tt.last != 0 {
					at := time.Now().Add(tt.last)
					check(t, errors.Join(os.WriteFile(file, []byte(tt.marked), 0o600), os.Chtimes(file, at, at)))
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := Together(ctx, file, func(context.Context) error { works++; return tt.work(cancel) })
				if !errors.Is(err, tt.err) || (err != nil) != (tt.err != nil) || works != tt.works {
					t.Errorf("done %d times, %v", works, err)
				}
				if info, err := os.Stat(file); (err == nil && info.Size() > 0) != tt.done {
					t.Errorf("done for others: %t", !tt.done)
				}
			})
		})
	}
}

// A command that reads says why the last turns are missing, unless that passes by itself.
func TestFoldAll(t *testing.T) {
	for name, tt := range map[string]struct {
		wrong func(b *bench) (undo func() error)
		told  int
	}{
		"nothing": {func(*bench) func() error { return func() error { return nil } }, 0},
		"another holds the database": {func(b *bench) func() error {
			other := must(migrations.Open(b.tb.Context(), b.path))(b.tb)
			tx := must(other.BeginTx(b.tb.Context(), nil))(b.tb)
			return func() error { return errors.Join(tx.Rollback(), other.Close()) }
		}, 0},
		"the disk": {func(b *bench) func() error {
			whole, faults := b.store, b.failing()
			faults.Fail(1)
			return func() error { b.store = whole; return nil }
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				l := b.log(false)
				conversation(l, "s")
				check(t, l.Flush(t.Context()))
				undo := tt.wrong(b)
				var told []string
				began := time.Now()
				FoldAll(t.Context(), b.store, zerolog.Nop(), func(line string) { told = append(told, line) })
				if took := time.Since(began); len(told) != tt.told || took > time.Second ||
					tt.told > 0 && !strings.HasPrefix(told[0], "the last turns are missing here, and wait in a file: ") {
					t.Errorf("told %q after %v", told, took)
				}
				FoldAll(t.Context(), b.store, zerolog.Nop(), nil)
				check(t, undo())
				FoldAll(t.Context(), b.store, zerolog.Nop(), nil)
				b.found("s")
			})
		})
	}
}
