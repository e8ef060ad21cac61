package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

func TestMain(m *testing.M) {
	if !asWorker(os.Args) {
		goleak.VerifyTestMain(m)
	}
}

// A bench is a database, a daemon and a worker.
type bench struct {
	*correlation.Store
	db     *sql.DB
	t      *testing.T
	dir    string
	now    time.Time
	daemon *daemon
	w      Worker

	mu      sync.Mutex // guards what follows
	warned  []string   // what its log says that is wrong
	removed int        // how often it says that turns were removed
}

// A daemon answers as it is told, and keeps what it was given.
type daemon struct {
	down   error
	asked  func() // what happens while it is asked whether it is there
	off    error  // why it does not say whether a session is switched off
	became error  // nor what became of jobs
	free   error  // why it frees no key
	calls  int    // of that, and of Free
	hang   bool   // takes a post and does not answer
	answer func(e signet.End) (Reply, error)
	keeps  func(m signet.Note) (Reply, error)
	ends   []signet.End
	texts  []string // as they stood in the files
}

func (d *daemon) Present(context.Context) (signet.Health, error) {
	if d.asked != nil {
		d.asked()
	}
	return signet.Health{}, d.down
}

func (d *daemon) End(ctx context.Context, e signet.End) (Reply, error) {
	if d.hang {
		<-ctx.Done()
		return Reply{}, signet.ErrNoAnswer
	}
	text, err := os.ReadFile(e.File)
	if err != nil {
		return Reply{}, err
	}
	d.ends, d.texts = append(d.ends, e), append(d.texts, string(text))
	if d.answer != nil {
		return d.answer(e)
	}
	return Reply{Note: "queued"}, nil
}

func (d *daemon) SwitchedOff(context.Context, string) (bool, error) { return false, d.off }

func (d *daemon) Became(_ context.Context, _ memory.Session, jobs []correlation.Job) ([]correlation.Job, error) {
	d.calls++
	return jobs, d.became
}

func (d *daemon) Free(context.Context, memory.Session) error {
	d.calls++
	return d.free
}

func (d *daemon) Compacted(context.Context, memory.Session, string) (Reply, error) {
	return Reply{}, nil
}

func (d *daemon) Remember(_ context.Context, m signet.Note) (Reply, error) { return d.keeps(m) }

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), now: time.Now(), daemon: &daemon{}}
	db, err := migrations.Open(t.Context(), filepath.Join(b.dir, "acp", "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	b.db = db
	now := func() time.Time { return b.now }
	b.Store = correlation.New(db, correlation.Options{LiveDir: filepath.Join(b.dir, "acp", "live"), Now: now})
	b.w = Worker{
		Store: b.Store, Folder: filepath.Join(b.dir, "acp"), Now: now, Retention: Retention{Keep: 24 * time.Hour},
		Daemon: func(string) (Daemon, error) { return b.daemon, nil },
	}
	b.w.Log = zerolog.New(io.Discard).Hook(zerolog.HookFunc(func(_ *zerolog.Event, level zerolog.Level, said string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if level >= zerolog.WarnLevel {
			b.warned = append(b.warned, said)
		}
		if said == "old turns removed" {
			b.removed++
		}
	}))
	return b
}

func (b *bench) process(info correlation.ProcessInfo) *correlation.Process {
	b.t.Helper()
	p, err := b.Register(b.t.Context(), info)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { p.End(context.Background(), "test") })
	return p
}

// say leaves a session with a turn.
func (b *bench) say(info correlation.ProcessInfo, user, assistant string) correlation.Session {
	b.t.Helper()
	return b.sayIn("one", info, user, assistant)
}

func (b *bench) sayIn(id string, info correlation.ProcessInfo, user, assistant string) correlation.Session {
	b.t.Helper()
	ctx, p := b.t.Context(), b.process(info)
	s, err := correlationtest.Session(ctx, b.Store, correlation.OpenSession{Harness: "echo", ACPID: id, Record: "record", Cwd: b.dir,
		Project: b.dir, Process: p.ID()})
	if err == nil {
		err = correlationtest.Save(ctx, b.Store, []correlation.Turn{{Session: s.ID, Process: p.ID(), User: user,
			Assistant: assistant, Ended: b.now}})
	}
	if err = errors.Join(err, p.End(ctx, "ended")); err != nil {
		b.t.Fatal(err)
	}
	return s
}

// answers has the daemon answer every post so.
func (b *bench) answers(r Reply, err error) {
	b.daemon.answer = func(signet.End) (Reply, error) { return r, err }
}

func (b *bench) exec(statement string) {
	b.t.Helper()
	_, err := b.db.ExecContext(b.t.Context(), statement)
	check(b.t, err)
}

func (b *bench) count(query string) (n int) {
	b.t.Helper()
	check(b.t, b.db.QueryRowContext(b.t.Context(), query).Scan(&n))
	return n
}

func (b *bench) work() {
	b.t.Helper()
	if _, err := b.w.Run(b.t.Context(), OnePass); err != nil {
		b.t.Fatal(err)
	}
}

// only is the session's one row.
func (b *bench) only(s correlation.Session) correlation.Debt {
	b.t.Helper()
	all, err := b.Book().DebtsOf(b.t.Context(), s.ID)
	if err != nil || len(all) != 1 {
		b.t.Fatalf("%d rows (%v)", len(all), err)
	}
	return all[0]
}

var (
	toDaemon = correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"}
	toHook   = correlation.ProcessInfo{Kind: correlation.Relay, Memory: "embedded", Hook: true}
)

// The transcript is readable by us alone, is there inline, too, and the file is gone afterwards.
func TestTranscriptFile(t *testing.T) {
	b := newBench(t)
	b.daemon.answer = func(e signet.End) (Reply, error) {
		if !filepath.IsAbs(e.File) {
			t.Errorf("path %s", e.File)
		}
		for name, want := range map[string]os.FileMode{e.File: 0o600, filepath.Dir(e.File): 0o700} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v (%v)", name, info.Mode(), err)
			}
		}
		return Reply{Note: "queued"}, nil
	}
	b.say(toDaemon, "hello\nthere", "hi")
	b.work()
	want := "User: hello there\nAssistant: hi\n"
	if diff := cmp.Diff([]string{want, want}, append(b.daemon.texts, b.daemon.ends[0].Text)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(b.daemon.ends[0].File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
	if len(b.warned) != 0 || b.removed != 0 {
		t.Errorf("it warns: %q, and says %d times that turns were removed", b.warned, b.removed)
	}
}

// What keeps a delivery from being made is noted, and it is made once that has gone.
func TestTrouble(t *testing.T) {
	guard.Report(func(guard.Panic) {})
	defer guard.Report(func(p guard.Panic) { panic(p.What) })
	for name, tt := range map[string]struct {
		wrong func(b *bench)
		want  string // state, attempts and why
		err   bool   // the worker's
	}{
		"no daemon": {wrong: func(b *bench) { b.w.Daemon = nil }, want: "owed 0 no daemon is configured"},
		"no such daemon": {wrong: func(b *bench) {
			b.w.Daemon = func(string) (Daemon, error) { return nil, errors.New("no such daemon") }
		}, want: "owed 0 no such daemon"},
		"it is down":           {wrong: func(b *bench) { b.daemon.down = errors.New("it is down") }, want: "owed 0 it is down"},
		"it refuses":           {wrong: func(b *bench) { b.answers(Reply{}, errors.New("no")) }, want: "owed 1 no"},
		"it does not answer":   {wrong: func(b *bench) { b.answers(Reply{}, signet.ErrNoAnswer) }, want: "unknown 1 " + signet.ErrNoAnswer.Error()},
		"it cannot say if off": {wrong: func(b *bench) { b.daemon.off = errors.New("ask later") }, want: "owed 0 ask later"},
		"no room for the text": {wrong: func(b *bench) {
			check(b.t, os.WriteFile(transcriptDir(b.w.Folder), nil, 0o600))
		}, want: "owed 1 writing the transcript: mkdir " + "…", err: true},
		"its file is in the way": {wrong: func(b *bench) {
			check(b.t, os.MkdirAll(filepath.Join(transcriptFile(b.w.Folder, 1), "x"), 0o700))
		}, want: "owed 1 writing the transcript: open …", err: true},
		"its lock is in the way": {wrong: func(b *bench) {
			check(b.t, os.Mkdir(filepath.Join(b.w.Folder, lockName), 0o700))
		}, want: "owed 0 ", err: true},
		"of a newer version": {wrong: func(b *bench) { b.exec(`UPDATE debts SET kind = 'dance'`) }, want: "owed 0 this version does not know dance"},
		"a mistake of ours": {wrong: func(b *bench) {
			b.daemon.answer = func(signet.End) (Reply, error) { panic("a mistake") }
		}, want: "owed 1 a fault of ours: see the log"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			text := "hello"
			if name == "it cannot say if off" { // what is asked before parts alone
				text = strings.Repeat("word ", 30000)
			}
			s := b.say(toDaemon, text, "hi")
			well := b.w
			tt.wrong(b)
			if _, err := b.w.Run(t.Context(), OnePass); (err != nil) != tt.err {
				t.Errorf("the worker ends with %v", err)
			}
			d := b.only(s)
			got := fmt.Sprint(d.State, " ", d.Attempts, " ", d.Error)
			if want, more := strings.CutSuffix(tt.want, "…"); got != want && !(more && strings.HasPrefix(got, want)) {
				t.Errorf("%s, want %s", got, tt.want)
			}
			b.w, b.daemon.down, b.daemon.off, b.daemon.answer = well, nil, nil, nil
			b.exec(`UPDATE debts SET kind = 'daemon'`)
			check(t, errors.Join(os.RemoveAll(transcriptDir(b.w.Folder)), os.RemoveAll(filepath.Join(b.w.Folder, lockName))))
			b.now = b.now.Add(time.Hour)
			b.work()
			if d := b.only(s); d.State != correlation.Delivered {
				t.Errorf("then %+v", d)
			}
		})
	}
}

// A daemon that is away, or fails, is asked for nothing else in that pass.
func TestAskedOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		down, became error
		free         error
		ends         bool // the worker, once it has asked whether the daemon is there
		calls        int
		warned       []string
	}{
		"there":        {calls: 3},
		"away":         {down: errors.New("away")},
		"failed":       {became: errors.New("failed"), calls: 2},
		"frees no key": {free: errors.New("failed"), calls: 3, warned: []string{"freeing keys"}},
		"told to end":  {ends: true, calls: 1},
	} {
		b := newBench(t)
		b.w.Like, b.w.StaleAfter = toDaemon, time.Minute
		for _, id := range []string{"one", "two"} {
			b.daemon.answer = func(e signet.End) (Reply, error) { return Reply{Note: "queued", Job: id}, nil }
			b.sayIn(id, toDaemon, "hello", "hi")
			b.work()
		}
		check(t, correlationtest.Apply(t.Context(), b.Store, "gone", correlation.KeyStarted{Key: "unused"}))
		b.now = b.now.Add(time.Hour)
		b.daemon.down, b.daemon.became, b.daemon.free = tt.down, tt.became, tt.free
		ctx, cancel := context.WithCancel(t.Context())
		if tt.ends {
			b.daemon.asked = cancel
		}
		_, err := b.w.Run(ctx, OnePass)
		cancel()
		check(t, err)
		if b.daemon.calls != tt.calls || !cmp.Equal(b.warned, tt.warned) {
			t.Errorf("%s: asked %d times, want %d; it warns: %q", name, b.daemon.calls, tt.calls, b.warned)
		}
	}
}

// Whatever statement of the database fails, the worker says so, and in the end all is delivered: what was not posted
// then once, and the rest at most once more.
func TestDatabaseFails(t *testing.T) {
	b := newBench(t)
	db, faults := correlationtest.Failing(b.db, filepath.Join(b.dir, "acp", "sessions.db"))
	defer db.Close()
	failing := b.w
	failing.Store = correlation.New(db, correlation.Options{LiveDir: b.LiveDir(), Now: b.w.Now})
	failing.Like, failing.StaleAfter, failing.Hook = toDaemon, time.Minute, []string{"true"}
	b.w.Hook = failing.Hook
	b.daemon.keeps = func(signet.Note) (Reply, error) { return Reply{Note: "kept"}, nil }
	b.daemon.answer = func(e signet.End) (Reply, error) { return Reply{Note: "queued", Job: e.Session.Key}, nil }
	info := toDaemon
	info.Hook = true
	for n := int64(1); ; n++ {
		b.owesAll(fmt.Sprint("s", n), info, strings.Repeat("word ", 20000))
		b.daemon.ends, b.warned = nil, nil
		faults.Fail(n)
		_, err := failing.Run(t.Context(), OnePass)
		failed := faults.Failed()
		if said := err != nil || len(b.warned) > 0; said != failed {
			t.Errorf("statement %d: %v, it warns: %q", n, err, b.warned)
		}
		faults.Fail(0)
		const open = `SELECT count(*) FROM debts WHERE done = 0`
		for passes := 0; b.count(open) > 0 && passes < 5; passes++ {
			b.now = b.now.Add(time.Hour)
			b.work()
		}
		posted := map[string]int{}
		for _, e := range b.daemon.ends {
			posted[e.Session.Key]++
			if posted[e.Session.Key] > 2 || posted[e.Session.Key] > 1 && !e.Again {
				t.Errorf("statement %d: %s is posted again", n, e.Session.Key)
			}
		}
		if len(posted) != 2 {
			t.Errorf("statement %d: %d parts are posted", n, len(posted))
		}
		if left := b.count(`SELECT count(*) FROM debts WHERE state <> 'delivered'`); left != 0 {
			t.Fatalf("statement %d: %d deliveries are not made", n, left)
		}
		if !failed {
			t.Logf("%d statements", n)
			return
		}
	}
}

// owesAll leaves a session that owes all kinds of deliveries, and a key that nobody has used.
func (b *bench) owesAll(id string, info correlation.ProcessInfo, text string) {
	b.t.Helper()
	ctx, p := b.t.Context(), b.process(info)
	s, err := correlationtest.Session(ctx, b.Store, correlation.OpenSession{Harness: "echo", ACPID: id, Process: p.ID()})
	check(b.t, err)
	check(b.t, correlationtest.Save(ctx, b.Store, []correlation.Turn{{Session: s.ID, Process: p.ID(), User: text,
		Assistant: "hi", Ended: b.now}}))
	n, err := correlationtest.Number(ctx, b.Store, p.ID(), s.ID)
	check(b.t, err)
	check(b.t, correlationtest.Apply(ctx, b.Store, p.ID(), correlation.Summarised{Session: n, Text: "What was said."},
		correlation.KeyStarted{Key: s.Key}, correlation.KeyStarted{Key: "unused " + id}))
	_, err = p.OweMemory(ctx, s.Key, `{"content":"x"}`)
	check(b.t, errors.Join(err, p.End(ctx, "ended")))
	b.now = b.now.Add(2 * time.Minute)
}

// A daemon is told whether a session has ended or its process has died.
func TestReason(t *testing.T) {
	for ended, want := range map[string]string{"ended": "session_shutdown", "died": "stale-session-sweep"} {
		b := newBench(t)
		p := b.process(toDaemon)
		s, err := correlationtest.Session(t.Context(), b.Store, correlation.OpenSession{Harness: "echo", ACPID: "one", Process: p.ID()})
		check(t, errors.Join(err, correlationtest.Save(t.Context(), b.Store, []correlation.Turn{{Session: s.ID, Process: p.ID(),
			User: "hello", Ended: b.now}}), p.End(t.Context(), ended)))
		b.work()
		if len(b.daemon.ends) != 1 || b.daemon.ends[0].Reason != want {
			t.Errorf("%s: %+v", ended, b.daemon.ends)
		}
	}
}

// A session of which less is left than was posted, as where a person had turns forgotten, is delivered to its end.
func TestFewerParts(t *testing.T) {
	b := newBench(t)
	s := b.say(toDaemon, strings.Repeat("word ", 60000), "hi")
	b.daemon.answer = func(signet.End) (Reply, error) {
		if len(b.daemon.ends) == 3 {
			return Reply{}, errors.New("not now")
		}
		return Reply{Note: "queued"}, nil
	}
	b.work()
	b.exec(`UPDATE turns SET user = 'hello'`)
	b.now = b.now.Add(time.Hour)
	b.work()
	if d := b.only(s); d.State != correlation.Delivered || len(b.daemon.ends) != 4 {
		t.Errorf("%d posts, %+v", len(b.daemon.ends), d)
	}
}

// What dead workers left is removed, also if it is not tried a third time.
func TestLeftFiles(t *testing.T) {
	for deaths, want := range map[int]correlation.DebtState{1: correlation.Delivered, 2: correlation.Unknown} {
		b := newBench(t)
		s := b.say(toDaemon, "hello", "hi")
		for range deaths {
			d, err := b.Debts().TakeUp(t.Context())
			check(t, err)
			post, err := b.Debts().Select(t.Context(), d)
			check(t, errors.Join(err, b.Debts().Attempt(t.Context(), d, post)))
			left := transcriptFile(b.w.Folder, d.ID)
			check(t, errors.Join(RemoveTranscripts(b.w.Folder, []int64{d.ID}), writeTranscript(left, "x")))
			b.now = b.now.Add(time.Minute)
		}
		check(t, writeTranscript(filepath.Join(transcriptDir(b.w.Folder), "before.txt"), "an older version's"))
		b.work()
		b.now = b.now.Add(time.Minute)
		b.work()
		if files, _ := os.ReadDir(transcriptDir(b.w.Folder)); len(files) != 0 || b.only(s).State != want {
			t.Errorf("%d deaths: %v, %+v", deaths, files, b.only(s))
		}
	}
}

// One daemon that does not answer keeps a pass waiting once.
func TestBlackHoleOnce(t *testing.T) {
	b := newBench(t)
	asked := 0
	b.daemon.answer = func(signet.End) (Reply, error) { asked++; return Reply{}, signet.ErrNoAnswer }
	b.say(toDaemon, "hello", "hi")
	p := b.process(toDaemon)
	s, err := correlationtest.Session(t.Context(), b.Store, correlation.OpenSession{Harness: "echo", ACPID: "two", Process: p.ID()})
	if err = errors.Join(err, correlationtest.Save(t.Context(), b.Store, []correlation.Turn{{Session: s.ID, Process: p.ID(), User: "x",
		Ended: b.now}}), p.End(t.Context(), "ended")); err != nil {
		t.Fatal(err)
	}
	b.work()
	if d := b.only(s); asked != 1 || d.State != correlation.Owed || d.Unanswered != 0 {
		t.Errorf("asked %d times; %+v", asked, d)
	}
}

// A worker that runs out of time notes what it knows.
func TestRunEnds(t *testing.T) {
	b := newBench(t)
	s := b.say(toDaemon, "hello", "hi")
	ctx, cancel := context.WithCancel(t.Context())
	b.daemon.answer = func(signet.End) (Reply, error) { cancel(); return Reply{Note: "queued"}, nil }
	b.w.Retention.Keep = 0
	if _, err := b.w.Run(ctx, UntilSettled); err != nil {
		t.Fatal(err)
	}
	if d := b.only(s); d.State != correlation.Delivered || b.removed != 1 {
		t.Errorf("%+v, turns are removed %d times", d, b.removed)
	}
}

// A worker that waits sees what others leave, and ends once all that is left has failed, or waits on purpose; a later
// one does not mind the back-off.
func TestRunUntilPaid(t *testing.T) {
	b := newBench(t)
	b.w.Store = correlation.New(b.db, correlation.Options{LiveDir: filepath.Join(b.dir, "acp", "live")})
	b.w.Now = nil
	s := b.say(toDaemon, "hello", "hi")
	var other correlation.Session
	b.daemon.answer = func(e signet.End) (Reply, error) {
		switch {
		case e.Session.Key != s.Key:
			return Reply{Note: "queued"}, nil
		case len(b.daemon.ends) == 1:
			other = b.sayIn("two", toDaemon, "hello", "hi")
			return Reply{}, errors.New("not now")
		}
		return Reply{Note: "skipped", Later: true, After: time.Hour}, nil
	}
	for _, want := range []Remaining{{Failed: 1}, {Waiting: 1}, {Waiting: 1}} {
		if left, err := b.w.Run(t.Context(), UntilSettled); err != nil || left != want {
			t.Errorf("left %+v, want %+v (%v)", left, want, err)
		}
	}
	if d := b.only(s); d.State != correlation.Owed || d.Attempts != 3 {
		t.Errorf("%+v", d)
	}
	if d := b.only(other); d.State != correlation.Delivered {
		t.Errorf("%+v", d)
	}
}

// A post has half of a worker's time where a hook comes after it.
func TestPostTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			hook       []string
			time, want time.Duration
		}{{nil, 4 * time.Second, 4 * time.Second}, {[]string{"x"}, 4 * time.Second, 2 * time.Second}, {[]string{"x"}, 0, 0}} {
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if tt.time > 0 {
				ctx, cancel = context.WithTimeout(ctx, tt.time)
			}
			posting, end := (&Worker{Hook: tt.hook}).postTime(ctx)
			at, limited := posting.Deadline()
			if got := time.Until(at); limited != (tt.want > 0) || limited && got != tt.want {
				t.Errorf("of %v with hook %v: %v", tt.time, tt.hook, got)
			}
			end()
			cancel()
		}
	})
}

// A worker waits for what becomes due within half a minute, and for a process that is ending.
func TestUntilQuiet(t *testing.T) {
	for name, tt := range map[string]struct {
		after  time.Duration // when the first post is to be repeated
		ending bool
		ahead  time.Duration // of ours is the clock by which it ends
		limit  time.Duration // of ours
		posts  int
		took   time.Duration
	}{
		"soon":                {after: 30 * time.Second, posts: 2, took: 30 * time.Second},
		"later":               {after: 30*time.Second + time.Millisecond, posts: 1},
		"we are told to end":  {after: 30 * time.Second, limit: 5 * time.Second, posts: 1, took: 5 * time.Second},
		"a process is ending": {after: time.Hour, ending: true, posts: 1, took: 30 * time.Second},
		"it ends tomorrow": {after: time.Hour, ending: true, ahead: 24 * time.Hour,
			took: 2*(30*time.Second+minWait) + watchPause},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.w.Now = time.Now
				b.w.Store = correlation.New(b.db, correlation.Options{LiveDir: filepath.Join(b.dir, "acp", "live")})
				b.daemon.answer = func(signet.End) (Reply, error) {
					return Reply{Later: len(b.daemon.ends) == 1, After: tt.after}, nil
				}
				b.say(toDaemon, "hello", "hi")
				if tt.ending {
					p := b.process(toDaemon)
					_, err := b.db.ExecContext(t.Context(), `UPDATE processes SET ended = ? WHERE id = ?`,
						time.Now().Add(tt.ahead).UnixMilli(), p.ID())
					check(t, err)
					_, err = b.db.ExecContext(t.Context(), `UPDATE turns SET process = ?`, p.ID())
					check(t, err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.limit > 0 {
					time.AfterFunc(tt.limit, cancel)
				}
				began := time.Now()
				_, err := b.w.Run(ctx, UntilQuiet)
				if took := time.Since(began); err != nil || len(b.daemon.ends) != tt.posts || took != tt.took {
					t.Errorf("%d posts, after %v, %v", len(b.daemon.ends), took, err)
				}
			})
		})
	}
}
