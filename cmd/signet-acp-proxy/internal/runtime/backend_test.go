package runtime

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
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
