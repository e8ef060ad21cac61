package delivery

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
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
}

// A daemon answers as it is told, and keeps what it was given.
type daemon struct {
	down   error
	asked  func() // what happens while it is asked whether it is there
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

func (d *daemon) SwitchedOff(context.Context, string) (bool, error) { return false, nil }

func (d *daemon) Became(_ context.Context, _ memory.Session, jobs []correlation.Job) ([]correlation.Job, error) {
	return jobs, nil
}

func (d *daemon) Free(context.Context, memory.Session) error { return nil }

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
	if _, err := b.w.Run(ctx, UntilSettled); err != nil {
		t.Fatal(err)
	}
	if d := b.only(s); d.State != correlation.Delivered {
		t.Errorf("%+v", d)
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
		after       time.Duration // when the first post is to be repeated
		ending      bool
		posts       int
		least, most time.Duration
	}{
		"soon":                {30 * time.Second, false, 2, 30 * time.Second, 30 * time.Second},
		"later":               {30*time.Second + time.Millisecond, false, 1, 0, 0},
		"a process is ending": {time.Hour, true, 1, 30 * time.Second, 30*time.Second + 200*time.Millisecond},
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
						time.Now().UnixMilli(), p.ID())
					check(t, err)
					_, err = b.db.ExecContext(t.Context(), `UPDATE turns SET process = ?`, p.ID())
					check(t, err)
				}
				began := time.Now()
				_, err := b.w.Run(t.Context(), UntilQuiet)
				if took := time.Since(began); err != nil || len(b.daemon.ends) != tt.posts || took < tt.least || took > tt.most {
					t.Errorf("%d posts, after %v, %v", len(b.daemon.ends), took, err)
				}
			})
		})
	}
}
