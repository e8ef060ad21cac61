package runtime

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// What a profile says that a harness keeps of a cancelled prompt the relay understands.
func TestCancelledWords(t *testing.T) {
	for profile, trait := range map[string]session.Cancelled{
		upstream.CancelledKept: session.CancelledKept, upstream.CancelledBegun: session.CancelledBegun,
		upstream.CancelledForgot: session.CancelledForgot,
	} {
		if session.Cancelled(profile) != trait {
			t.Errorf("%q and %q", profile, trait)
		}
	}
}

// Two do not fold at once: one waits for the other, no longer than it wants to, and does it after all if the other
// came to nothing.
func TestFoldAllBesideAnother(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SIGNET_PATH", t.TempDir())
	c, err := config.Load(config.Flags{Memory: "embedded"})
	if err != nil {
		t.Fatal(err)
	}
	db, err := migrations.Open(t.Context(), c.DB)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin := func() *eventlog.Log {
		t.Helper()
		log, err := eventlog.Open(eventlog.Options{Dir: c.LiveDir(),
			Process: correlation.ProcessInfo{Kind: correlation.Relay}})
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	b := NewBackend(c, term.Streams{}, "", Started{})
	defer b.log.Close()
	b.events = begin()
	defer b.events.Close(t.Context())
	b.learner = NewStore(c, db, b.log)
	other := begin()
	defer other.Close(context.Background())
	const session, turn = 1, 1
	other.Append(correlation.Opened{Session: session,
		Open: correlation.OpenSession{Harness: "claude", ACPID: "s", New: true}},
		correlation.TurnBegan{Session: session, Turn: turn}, correlation.UserSaid{Turn: turn, Text: "The mast is made of ash."},
		correlation.TurnEnded{Turn: turn, Stop: "end_turn"})
	if err := other.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	learned := func() (n int) {
		t.Helper()
		if err := db.QueryRow("SELECT count(*) FROM turns WHERE learned = 1").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	store := correlation.New(db, correlation.Options{LiveDir: c.LiveDir(), Path: c.DB})
	another, begun, over := make(chan error, 1), make(chan struct{}), make(chan struct{})
	go func() {
		another <- eventlog.Together(t.Context(), filepath.Join(c.Dir(), foldTurn), func(context.Context) error {
			close(begun)
			<-over
			return errors.New("it comes to nothing")
		})
	}()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	b.foldAll(ctx, store)
	if got := learned(); got != 0 {
		t.Errorf("beside another: %d turns learned from", got)
	}
	close(over)
	<-another
	b.foldAll(t.Context(), store)
	if got := learned(); got != 1 {
		t.Errorf("after it: %d turns learned from", got)
	}
}

// Once the daemon answers a tool again, what is owed to it is looked for, unless the database is not open yet.
func TestDaemonAnswersAgain(t *testing.T) {
	var b backend
	b.daemonAnswers()
	dir, db := newDatabase(t)
	looks := make(chan struct{}, 8)
	b.dispatcher = &delivery.Dispatcher{AtExit: time.Minute, Spawn: delivery.Spawn{Dir: dir},
		Worker: delivery.Worker{Folder: dir, Store: correlation.New(db, correlation.Options{LiveDir: dir})},
		Also:   func(context.Context) (bool, error) { looks <- struct{}{}; return false, nil }}
	b.dispatcher.Begin()
	<-looks
	b.daemonAnswers()
	select {
	case <-looks:
	case <-time.After(time.Minute):
		t.Error("nobody looks for what is owed")
	}
	b.dispatcher.End()
}

// A memory that a tool stored while the daemon was away is owed to it. That waits until the database is open.
func TestOwesMemory(t *testing.T) {
	dir, db := newDatabase(t)
	store := correlation.New(db, correlation.Options{LiveDir: filepath.Join(dir, "live")})
	process, err := store.Register(t.Context(), correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"})
	if err != nil {
		t.Fatal(err)
	}
	defer process.End(context.Background(), "test")
	s, err := correlationtest.Session(t.Context(), store, correlation.OpenSession{Harness: "echo", ACPID: "one",
		Process: process.ID()})
	if err != nil {
		t.Fatal(err)
	}
	b := backend{opened: make(chan struct{}), process: process}
	owe := func(ctx context.Context) (bool, error) {
		return b.owe(ctx, memory.Session{Key: s.Key}, signet.Note{Content: "Robin rows on the lake."})
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if owed, err := owe(over); owed || !errors.Is(err, context.Canceled) {
		t.Errorf("before the database is open: %t, %v", owed, err)
	}
	close(b.opened)
	owed, err := owe(t.Context())
	rows, failed := store.Book().DebtsOf(t.Context(), s.ID)
	if !owed || errors.Join(err, failed) != nil || len(rows) != 1 || rows[0].Kind != correlation.KindMemory {
		t.Errorf("owed: %t, %v; %+v, %v", owed, err, rows, failed)
	}
}

// lineByLine is a writer that hands on what is written.
type lineByLine chan string

func (s lineByLine) Write(line []byte) (int, error) {
	s <- string(line)
	return len(line), nil
}

// With memory: daemon there is no other, and people hear that the daemon is away.
func TestDaemonAway(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("SIGNET_PATH", t.TempDir())
	gone := daemontest.Start(t, daemontest.Options{})
	gone.Stop()
	c, err := config.Load(config.Flags{Memory: "daemon", DaemonURL: gone.URL()})
	if err != nil {
		t.Fatal(err)
	}
	lines := make(lineByLine, 8)
	b := NewBackend(c, term.Streams{Err: lines}, "", Started{})
	defer b.log.Close()
	b.events = newLog(t, c.LiveDir())
	defer b.events.Close(context.Background())
	b.follower = newFollower(b.events, false, "", b.log.Logger)
	defer b.follower.close()
	if b.daemon, err = NewDaemon(c, "", b.log.Logger); err != nil {
		t.Fatal(err)
	}
	defer b.daemon.Close()
	source := b.source(correlation.New(nil, correlation.Options{}), nil, b.log.Logger)
	if _, err := source.Start(t.Context(), memory.Session{Key: correlation.NewKey()}); !errors.Is(err, memory.ErrUnavailable) {
		t.Errorf("a daemon that is away: %v", err)
	}
	select {
	case line := <-lines:
		if !strings.Contains(line, "agents get only the identity files until the daemon answers") {
			t.Errorf("people hear %q", line)
		}
	default:
		t.Error("people hear nothing")
	}
}
