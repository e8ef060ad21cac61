package runtime

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// A conversation that goes on is told to the daemon once, hands over what it has every so many turns, and its key's
// start is noted once its session is known.
func TestFollower(t *testing.T) {
	dir := t.TempDir()
	db, err := migrations.Open(t.Context(), filepath.Join(dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	live := filepath.Join(dir, "live")
	store := correlation.New(db, correlation.Options{LiveDir: live})
	log, err := eventlog.Open(eventlog.Options{Dir: live,
		Process: correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"}})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close(context.Background())
	log.Attach(store)
	process := store.Process(log.Process())
	d := daemontest.Start(t, daemontest.Options{Generation: daemontest.Middle})
	daemon, err := signet.New(signet.Options{URL: d.URL(), Configured: true})
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	f := newFollower(log, false, zerolog.Nop())
	defer f.close()
	handed := make(chan bool, 8)
	f.attach(daemon, func(ctx context.Context, key string) error {
		if err := log.Folded(ctx); err != nil {
			return err
		}
		owed, err := process.OweSoFar(ctx, key)
		handed <- owed
		return err
	})

	key := correlation.NewKey()
	f.starting(key) // before the session is known
	n := f.NewSession()
	f.Append(eventlog.Opened{Session: n, Open: correlation.OpenSession{Harness: "echo", ACPID: "one", Cwd: "/work",
		Project: "/work", Key: key, New: true}})
	say := func(i int) {
		turn := f.NewTurn()
		f.Append(eventlog.TurnBegan{Session: n, Turn: turn, Key: key},
			eventlog.UserSaid{Turn: turn, Text: fmt.Sprintf("question %d", i)},
			eventlog.Said{Turn: turn, Text: "answer"})
		// which may take longer than anybody waits
		_ = f.AppendWait(t.Context(), eventlog.TurnEnded{Turn: turn, Stop: "end_turn"})
	}
	for i := range turnsAtOnce {
		say(i)
	}
	select {
	case owed := <-handed:
		if !owed {
			t.Error("nothing is owed")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("a long session hands nothing over")
	}
	const submit = "/api/hooks/user-prompt-submit"
	if got := d.Requests(submit); len(got) != 1 || got[0].JSON()["userMessage"] != "question 0" ||
		got[0].JSON()["sessionKey"] != key || got[0].JSON()["project"] != "/work" {
		t.Errorf("the daemon was told %d times", len(got))
	}
	all, err := store.Sessions(t.Context(), 0)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sessions (%v)", len(all), err)
	}
	rows, err := store.Deliveries(t.Context(), all[0].ID)
	if err != nil || len(rows) != 1 || rows[0].Key != key || rows[0].Kind != correlation.KindDaemon {
		t.Errorf("owed: %+v (%v)", rows, err)
	}
	keys, err := store.Keys(t.Context(), all[0].ID)
	if err != nil || len(keys) != 1 || keys[0].Started.IsZero() {
		t.Errorf("keys: %+v (%v)", keys, err)
	}
	say(turnsAtOnce) // its end was posted, and it goes on
	for deadline := time.Now().Add(20 * time.Second); len(d.Requests(submit)) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the daemon is not told that it goes on")
		}
	}
}
