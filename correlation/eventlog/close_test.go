package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	. "github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/pace"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Somebody else has the database locked: appending does not notice, the end takes what it is given, and everything is
// there afterwards. The clock is the test's: it stands still while anything works.
func TestLocked(t *testing.T) {
	for _, sessions := range []int{1, 12} {
		t.Run(fmt.Sprint(sessions, " sessions"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lockedAtTheEnd(t, sessions)
			})
		})
	}
}

func lockedAtTheEnd(t *testing.T, sessions int) {
	const given = 300 * time.Millisecond
	b := newBench(t)
	other := must(migrations.Open(t.Context(), b.path))(t)
	defer other.Close()
	l := b.log(true)
	tx := must(other.BeginTx(t.Context(), nil))(t)
	for i := range sessions {
		conversation(l, fmt.Sprint("s", i))
	}
	l.Append(correlation.ProcessEnded{Reason: "eof"})
	ctx, cancel := context.WithTimeout(t.Context(), given)
	defer cancel()
	began := time.Now()
	left := must(l.Close(ctx))(t)
	if took := time.Since(began); !left || took > given {
		t.Errorf("left: %t, after %v", left, took)
	}
	check(t, tx.Rollback())
	b.sweep()
	for i := range sessions {
		b.found(fmt.Sprint("s", i))
	}
}

// What the database did not take it is given again, also where nobody asks for it.
func TestTakenInOnceItIsFree(t *testing.T) {
	b := newBench(t)
	other := must(migrations.Open(t.Context(), b.path))(t)
	defer other.Close()
	refused := make(chan struct{}, 1)
	o := b.options()
	o.Log = zerolog.New(io.Discard).Hook(zerolog.HookFunc(func(_ *zerolog.Event, _ zerolog.Level, said string) {
		if strings.Contains(said, "takes no events just now") {
			select {
			case refused <- struct{}{}:
			default:
			}
		}
	}))
	l := must(Open(o))(t)
	defer l.Close(context.WithoutCancel(t.Context()))
	tx := must(other.BeginTx(t.Context(), nil))(t)
	l.Attach(b.store)
	conversation(l, "s")
	select {
	case <-refused:
	case <-time.After(time.Minute):
		t.Fatal("the database was not asked")
	}
	check(t, tx.Rollback())
	for limit := time.Now().Add(time.Minute); b.count("SELECT count(*) FROM turns WHERE ended > 0") < 2; {
		if time.Now().After(limit) {
			t.Fatal("it was not given again")
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.found("s")
}

// Who waits for a row waits no longer than they want to.
func TestRowWhileLocked(t *testing.T) {
	b := newBench(t)
	other := must(migrations.Open(t.Context(), b.path))(t)
	defer other.Close()
	l := b.log(true)
	tx := must(other.BeginTx(t.Context(), nil))(t)
	session, _ := conversation(l, "s")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := l.Row(ctx, session); err == nil {
		t.Error("a row, without a database")
	}
	check(t, tx.Rollback())
	must(l.Row(t.Context(), session))(t)
	must(l.Close(t.Context()))(t)
	b.found("s")
	if _, err := l.Row(t.Context(), 99); err == nil {
		t.Error("a row of a log that is closed")
	}
	if l.AppendWait(t.Context(), correlation.TurnEnded{Turn: 1}) == nil {
		t.Error("written to a log that is closed")
	}
}

// A process that has nothing to say leaves nothing, asks the database for nothing, and has nothing to complain of.
func TestNothingSaid(t *testing.T) {
	for _, attached := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			faults := b.failing()
			b.sweep() // in no folder
			empty := b.log(attached)
			if attached {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := empty.Row(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the row of a session that was not opened: %v", err)
				}
			}
			time.Sleep(time.Second)
			faults.Fail(0)
			time.Sleep(time.Hour)
			if n := faults.Done(); n != 0 {
				t.Errorf("attached: %t: the database was asked %d times", attached, n)
			}
			if left := must(empty.Close(t.Context()))(t); left || len(b.files()) != 0 || len(b.told)+len(b.said) != 0 {
				t.Errorf("attached: %t: left: %t, files: %q, told: %q, said: %q", attached, left, b.files(), b.told, b.said)
			}
			began := time.Now()
			if err := empty.AppendWait(t.Context(), correlation.KeyStarted{Key: "k"}); err == nil || time.Since(began) != 0 {
				t.Errorf("written to a log that is closed: %v, after %v", err, time.Since(began))
			}
			empty.Attach(b.store)
			if _, err := empty.Row(t.Context(), 1); err == nil {
				t.Error("a row of a log that is closed")
			}
		})
	}
}

// What is said together becomes rows together: a fold a tenth of a second.
func TestFoldsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var folds atomic.Int64
		o := b.options()
		o.Folded = func(bool, []int) { folds.Add(1) }
		l := must(Open(o))(t)
		l.Attach(b.store)
		_, turns := conversation(l, "s")
		check(t, l.Folded(t.Context()))
		time.Sleep(time.Second)
		folds.Store(0)
		for range 100 {
			l.Append(correlation.AssistantSaid{Turn: turns[1], Text: "more"})
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		if n := folds.Load(); n < 2 || n > 20 {
			t.Errorf("%d folds in a second", n)
		}
		for ctx, waits := range map[context.Context]bool{t.Context(): false, pace.Gently(t.Context()): true} {
			l.Append(correlation.AssistantSaid{Turn: turns[1], Text: "more"})
			check(t, l.Folded(ctx))
			synctest.Wait() // a fold that goes on takes in what is said meanwhile
			began := time.Now()
			l.Append(correlation.AssistantSaid{Turn: turns[1], Text: "more"})
			if check(t, l.Folded(ctx)); (time.Since(began) > 0) != waits {
				t.Errorf("it is in the database after %v", time.Since(began))
			}
		}
		must(l.Close(t.Context()))(t)
	})
}

// Whatever statement of the database fails, what was said is there once afterwards: by a sweep that says so and the
// next one, or by the process that goes on.
func TestDatabaseFails(t *testing.T) {
	for _, living := range []bool{false, true} {
		t.Run(fmt.Sprintf("living %t", living), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				whole := b.store
				faults := b.failing()
				failing := b.store
				b.store = whole
				for n := int64(1); ; n++ {
					id := fmt.Sprint("s", n)
					l := b.log(false)
					conversation(l, id)
					if living {
						check(t, l.Flush(t.Context()))
						faults.Fail(n)
						l.Attach(failing)
						check(t, l.Folded(t.Context()))
					}
					if left := must(l.Close(t.Context()))(t); !left && !living {
						t.Errorf("statement %d: nothing is left", n)
					}
					if !living {
						faults.Fail(n)
						if err := (Sweep{Store: failing}).Run(t.Context()); errors.Is(err, sqlite.ErrDisk) != faults.Failed() {
							t.Errorf("statement %d: %v", n, err)
						}
					}
					failed := faults.Failed()
					faults.Fail(0)
					if b.sweep(); len(b.files()) != 0 {
						t.Errorf("statement %d: files: %q", n, b.files())
					}
					b.found(id)
					if !failed {
						break
					}
				}
				if n := b.count("SELECT count(*) FROM processes WHERE ended = 0"); !living && n != 0 {
					t.Errorf("%d processes live", n)
				}
			})
		})
	}
}

// A database that takes nothing any more is told of, also where that shows only at the end.
func TestFailsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		whole, faults := b.store, b.failing()
		l := b.log(true)
		conversation(l, "before")
		time.Sleep(time.Minute) // it is folded in, and nobody has asked for that: what comes next waits for more
		b.found("before")
		conversation(l, "s")
		faults.Fail(1)
		left := must(l.Close(t.Context()))(t)
		if !left || len(b.told) != 1 ||
			!strings.HasPrefix(b.told[0], "conversations wait in a file until the database accepts them: ") {
			t.Errorf("left: %t, told: %q", left, b.told)
		}
		b.store = whole
		b.sweep()
		b.found("s")
	})
}

// What the database has taken is in no file; what it does not take waits in one no longer than that lasts, and counts
// once. Long texts are no exception.
func TestWaits(t *testing.T) {
	b := newBench(t)
	other := must(migrations.Open(t.Context(), b.path))(t)
	defer other.Close()
	l := b.log(true)
	conversation(l, "direct")
	check(t, l.Folded(t.Context()))
	b.nothingWaits()
	tx := must(other.BeginTx(t.Context(), nil))(t)
	session, turns := conversation(l, "waiting")
	for range 40 {
		l.Append(correlation.AssistantSaid{Turn: turns[1], Text: strings.Repeat("CANARY ", 1000)})
	}
	l.Append(correlation.RecordKnown{Session: session, Record: "r"})
	check(t, l.Flush(t.Context())) // however long the disk takes
	if text := must(os.ReadFile(filepath.Join(b.dir, b.files()[0])))(t); !bytes.Contains(text, []byte("CANARY")) {
		t.Errorf("the file: %q", text)
	}
	check(t, tx.Rollback())
	check(t, l.Folded(t.Context()))
	b.nothingWaits()
	conversation(l, "later")
	if left := must(l.Close(t.Context()))(t); left || len(b.files()) != 0 {
		t.Errorf("left: %t, files: %q", left, b.files())
	}
	b.found("direct")
	b.found("later")
	v := must(b.store.Find(t.Context(), "claude", "waiting"))(t)
	all := must(b.store.Book().Turns(t.Context(), v.ID))(t)
	if len(all) != 2 || all[0].Assistant != "answer one" || !strings.HasPrefix(all[1].Assistant, "answer twoCANARY") ||
		v.Record != "r" {
		t.Errorf("%d turns, record %q", len(all), v.Record)
	}
	if n := b.count("SELECT count(*) FROM turns WHERE left_out BETWEEN 150000 AND 250000 AND head = 48 << 10"); n != 1 {
		t.Errorf("%d turns have a middle that was left out", n)
	}
}

// What was said becomes rows though nobody asks for them, and the file does not grow for ever.
func TestBecomesRows(t *testing.T) {
	b := newBench(t)
	l := b.log(true)
	for i := range 40 {
		_, turns := conversation(l, fmt.Sprint(i))
		l.Append(correlation.AssistantSaid{Turn: turns[1], Text: strings.Repeat("word ", 3000)})
		check(t, l.Flush(t.Context()))
		for b.count(`SELECT count(*) FROM turns WHERE length(assistant) > 10000`) <= i {
			time.Sleep(5 * time.Millisecond) // the test's own limit ends it
		}
	}
	info := must(os.Stat(filepath.Join(b.dir, b.files()[0])))(t)
	if must(l.Close(t.Context()))(t); info.Size() > 3*64<<10 || slices.Contains(b.said, "removing a file of events") {
		t.Errorf("the file has %d bytes, said: %q", info.Size(), b.said)
	}
}

// A log of the database that is large is brought into its file, and again when it has grown. Where the disk takes
// seconds for that three times it is left alone, which is noted at the end.
func TestCheckpoint(t *testing.T) {
	const most = 4 << 20
	for name, tt := range map[string]struct {
		sizes       []int64 // of the log at the ends of turns
		takes       time.Duration
		err         error
		checkpoints int
		said        int // how often the log has it that something is wrong
		slow        bool
		late        bool // there is a database only after that
	}{
		"small":         {sizes: []int64{most}},
		"large":         {sizes: []int64{most + 1}, checkpoints: 1},
		"taken in late": {sizes: []int64{2 * most}, late: true, checkpoints: 1},
		"no larger":     {sizes: []int64{2 * most, 2 * most, most}, checkpoints: 1},
		"it grows":      {sizes: []int64{2 * most, 3 * most}, checkpoints: 2},
		"others read":   {sizes: []int64{2 * most}, err: sqlite.ErrBusy, checkpoints: 1},
		"it fails":      {sizes: []int64{2 * most}, err: sqlite.ErrDisk, checkpoints: 1, said: 1},
		"slow":          {sizes: []int64{2 * most, 3 * most, 4 * most, 5 * most}, takes: 2 * time.Second, checkpoints: 3, said: 1, slow: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				log := filepath.Join(t.TempDir(), "large")
				b.store = correlation.New(b.db, correlation.Options{LiveDir: b.dir, Path: log})
				var checkpoints, said atomic.Int64
				o := b.options()
				o.Log = zerolog.New(io.Discard).Hook(zerolog.HookFunc(func(*zerolog.Event, zerolog.Level, string) { said.Add(1) }))
				o.Checkpoint = func(context.Context) error {
					checkpoints.Add(1)
					time.Sleep(tt.takes)
					return tt.err
				}
				l := must(Open(o))(t)
				if !tt.late {
					l.Attach(b.store)
				}
				for i, size := range tt.sizes {
					check(t, errors.Join(os.WriteFile(log+"-wal", nil, 0o600), os.Truncate(log+"-wal", size)))
					conversation(l, fmt.Sprint("s", i))
					time.Sleep(10 * time.Second)
				}
				l.Attach(b.store)
				time.Sleep(10 * time.Second)
				must(l.Close(t.Context()))(t)
				slow := must(b.store.Book().Slow(t.Context()))(t)
				if checkpoints.Load() != int64(tt.checkpoints) || said.Load() != int64(tt.said) || slow.IsZero() == tt.slow {
					t.Errorf("%d checkpoints, %d times said that something is wrong, slow since %v", checkpoints.Load(), said.Load(), slow)
				}
			})
		})
	}
}

// A database that is removed while a process runs is begun again, and gets what was said last: at once, or at the end.
func TestReplaced(t *testing.T) {
	for _, ends := range []bool{false, true} {
		b := newBench(t)
		l := b.log(true)
		conversation(l, "s")
		check(t, l.Folded(t.Context()))
		b.found("s")
		b.away()
		if !ends {
			conversation(l, "later")
			check(t, l.Folded(t.Context()))
			b.found("s")
			b.found("later")
		}
		l.Append(correlation.ProcessEnded{Reason: "eof"})
		if left := must(l.Close(t.Context()))(t); left || len(b.files()) != 0 {
			t.Errorf("left: %t, files: %q", left, b.files())
		}
		b.found("s")
	}
}

// One that is removed between two transactions of the same file gets the first one's events, too.
func TestReplacedBetween(t *testing.T) {
	b := newBench(t)
	o, once := b.options(), sync.Once{}
	o.Folded = func(bool, []int) { once.Do(b.away) }
	l := must(Open(o))(t)
	session, _ := conversation(l, "s")
	n := number()
	l.Append(correlation.TurnBegan{Session: session, Turn: n},
		correlation.UserSaid{Turn: n, Text: strings.Repeat("as much as is read at a time ", 3000)})
	conversation(l, "later")
	check(t, l.Flush(t.Context()))
	l.Attach(b.store)
	check(t, l.Folded(t.Context()))
	must(l.Close(t.Context()))(t)
	b.found("later")
	v := must(b.store.Find(t.Context(), "claude", "s"))(t)
	if turns := must(b.store.Book().Turns(t.Context(), v.ID))(t); len(turns) != 3 {
		t.Errorf("%d turns, want 3", len(turns))
	}
}

// What takes long to bring into the database takes several transactions, so that others come between: here each event
// that comes too late, which the log has.
func TestLongFold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var folds atomic.Int64
		o := b.options()
		o.Log = o.Log.Hook(zerolog.HookFunc(func(*zerolog.Event, zerolog.Level, string) { time.Sleep(20 * time.Millisecond) }))
		o.Folded = func(bool, []int) { folds.Add(1) }
		l := must(Open(o))(t)
		session, turns := conversation(l, "s")
		for range 10 {
			l.Append(correlation.Stepped{Session: session, From: []correlation.State{correlation.InFlight},
				Step: correlation.Step{Name: correlation.Answered}}, correlation.AssistantSaid{Turn: turns[1], Text: "+"})
		}
		check(t, l.Flush(t.Context()))
		l.Attach(b.store)
		check(t, l.Folded(t.Context()))
		must(l.Close(t.Context()))(t)
		v := must(b.store.Find(t.Context(), "claude", "s"))(t)
		all := must(b.store.Book().Turns(t.Context(), v.ID))(t)
		if n := folds.Load(); n < 10 || len(all) != 2 || all[1].Assistant != "answer two++++++++++" {
			t.Errorf("%d folds, %+v", n, all)
		}
	})
}

// A sweep beside somebody else's lock gives up soon, however many files there are, and has its own process's left
// alone.
func TestSweepWhileLocked(t *testing.T) {
	b := newBench(t)
	own := b.log(false)
	conversation(own, "own")
	check(t, own.Flush(t.Context()))
	for i := range 20 {
		l := b.log(false)
		conversation(l, fmt.Sprint("s", i))
		must(l.Close(t.Context()))(t)
	}
	other := must(migrations.Open(t.Context(), b.path))(t)
	defer other.Close()
	tx := must(other.BeginTx(t.Context(), nil))(t)
	err := Sweep{Store: b.store, Living: true}.Run(t.Context())
	if !errors.Is(err, sqlite.ErrBusy) {
		t.Errorf("err = %v, want busy", err)
	}
	if tried := strings.Count(fmt.Sprint(err), sqlite.ErrBusy.Error()); tried != 1 { // an error a file
		t.Errorf("it tried %d files:\n%v", tried, err)
	}
	check(t, tx.Rollback())
	check(t, Sweep{Store: b.store, Living: true, Except: own.Process()}.Run(t.Context()))
	for i := range 20 {
		b.found(fmt.Sprint("s", i))
	}
	if _, err := b.store.Find(t.Context(), "claude", "own"); !errors.Is(err, correlation.ErrNotFound) {
		t.Errorf("its own file: %v", err)
	}
}
