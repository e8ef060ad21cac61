package runtime

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// newDatabase makes a database in a folder of its own.
func newDatabase(t *testing.T) (dir string, db *sql.DB) {
	t.Helper()
	dir = t.TempDir()
	db, err := migrations.Open(t.Context(), filepath.Join(dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return dir, db
}

// newLog begins the events of a process, which are to be closed before their database.
func newLog(t *testing.T, dir string) *eventlog.Log {
	t.Helper()
	log, err := eventlog.Open(eventlog.Options{Dir: dir,
		Process: correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"}})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// The first prompt of a resumed session comes while the database is being opened: its hook is called once that is done.
func TestFollowerBeforeItIsAttached(t *testing.T) {
	log := newLog(t, t.TempDir())
	defer log.Close(context.Background())
	d := daemontest.Start(t, daemontest.Options{Generation: daemontest.Middle})
	daemon, err := signet.New(signet.Options{URL: d.URL(), Configured: true})
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	f := newFollower(log, true, "", zerolog.Nop())
	defer f.close()
	const n = 1
	f.note(correlation.Opened{Session: n, Open: correlation.OpenSession{Harness: "echo", ACPID: "one", Key: "new"}},
		correlation.Rekeyed{Session: n, Key: "k"})
	var want []string
	for i := range 7 { // turns that follow without a pause
		turn := i + 1
		want = append(want, fmt.Sprintf("k: question %d", i))
		f.note(correlation.TurnBegan{Session: n, Turn: turn, Key: "k"},
			correlation.UserSaid{Turn: turn, Text: fmt.Sprintf("question %d", i)},
			correlation.AssistantSaid{Turn: turn, Text: "answer"}, correlation.TurnEnded{Turn: turn})
	}
	f.attach(daemon, nil)
	for deadline := time.Now().Add(time.Minute); len(d.Requests("/api/hooks/user-prompt-submit")) < len(want) &&
		time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	var got []string
	for _, r := range d.Requests("/api/hooks/user-prompt-submit") {
		got = append(got, fmt.Sprintf("%v: %v", r.JSON()["sessionKey"], r.JSON()["userMessage"]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// The first prompt of a resumed session makes its key a live one at the daemon. That is recorded, so that it is freed
// some day.
func TestKeyOfAResumedSession(t *testing.T) {
	dir, db := newDatabase(t)
	live := filepath.Join(dir, "live")
	log := newLog(t, live)
	defer log.Close(context.Background())
	log.Attach(correlation.New(db, correlation.Options{LiveDir: live}))
	d := daemontest.Start(t, daemontest.Options{Generation: daemontest.Newer})
	daemon, err := signet.New(signet.Options{URL: d.URL(), Configured: true})
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	f := newFollower(log, false, "", zerolog.Nop())
	defer f.close()
	source := recordingDaemon{Client: daemon, follower: f, log: zerolog.Nop()}
	who := memory.Session{Key: correlation.NewKey(), Harness: "echo", AgentID: "alto"}
	if _, err := source.Recall(t.Context(), who, "How long is the mast?", nil); err != nil {
		t.Fatal(err)
	}
	if err := log.Folded(t.Context()); err != nil {
		t.Fatal(err)
	}
	var agent string
	if err := db.QueryRow("SELECT agent_id FROM session_keys WHERE key = ?", who.Key).Scan(&agent); err != nil || agent != "alto" {
		t.Errorf("the key is of agent %q, %v", agent, err)
	}
}

// A conversation that goes on is told to the daemon once, hands over what it has every so many turns, and its key's
// start is noted once its session is known.
func TestFollower(t *testing.T) {
	dir, db := newDatabase(t)
	live := filepath.Join(dir, "live")
	store := correlation.New(db, correlation.Options{LiveDir: live})
	log := newLog(t, live)
	defer log.Close(context.Background())
	log.Attach(store)
	process := store.Process(log.Process())
	d := daemontest.Start(t, daemontest.Options{Generation: daemontest.Newer})
	daemon, err := signet.New(signet.Options{URL: d.URL(), Configured: true})
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	skills := filepath.Join(dir, "skills")
	for _, name := range []string{"review", "empty"} {
		if err := os.MkdirAll(filepath.Join(skills, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(skills, "review", "SKILL.md"), []byte("# Review"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFollower(log, false, skills, zerolog.Nop())
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

	record := func(events ...correlation.Event) { // as the relay does
		log.Append(events...)
		f.note(events...)
	}
	key := correlation.NewKey()
	f.starting(t.Context(), memory.Session{Key: key}) // before the session is known
	f.warned(key, []string{"the index is being rebuilt"})
	const n = 1
	record(correlation.Opened{Session: n, Open: correlation.OpenSession{Harness: "echo", ACPID: "one", Cwd: "/work",
		Project: "/work", Key: key, New: true}})
	say := func(i int) {
		turn := i + 1
		record(correlation.TurnBegan{Session: n, Turn: turn, Key: key},
			correlation.UserSaid{Turn: turn, Text: fmt.Sprintf("question %d", i)},
			correlation.AssistantSaid{Turn: turn, Text: "answer"})
		record(correlation.TurnEnded{Turn: turn, Stop: "end_turn"})
	}
	for i := range 20 { // correlation.DueSoFar
		say(i)
	}
	select {
	case owed := <-handed:
		if !owed {
			t.Error("nothing is owed")
		}
	case <-time.After(time.Minute):
		t.Fatal("a long session hands nothing over")
	}
	const claim = "/api/hooks/session-start"
	if got := d.Requests(claim); len(got) != 1 || got[0].JSON()["claimOnly"] != true ||
		got[0].JSON()["sessionKey"] != key || got[0].JSON()["project"] != "/work" {
		t.Errorf("the daemon was told %d times", len(got))
	}
	all, err := store.Book().Sessions(t.Context(), 0)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sessions (%v)", len(all), err)
	}
	rows, err := store.Book().DebtsOf(t.Context(), all[0].ID)
	if err != nil || len(rows) != 1 || rows[0].Key != key || rows[0].Kind != correlation.KindDaemon {
		t.Errorf("owed: %+v (%v)", rows, err)
	}
	keys, err := store.Book().Keys(t.Context(), all[0].ID)
	if err != nil || len(keys) != 1 || keys[0] != key {
		t.Errorf("keys: %+v (%v)", keys, err)
	}
	waitFor := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	f.warned(key, []string{"the disk is nearly full"})
	waitFor("the daemon's warnings are not kept", func() bool {
		warnings, err := store.Book().Warnings(t.Context(), all[0].ID)
		return err == nil && slices.Equal(warnings, []string{"the index is being rebuilt", "the disk is nearly full"})
	})
	record(correlation.Compacting{Session: n})
	waitFor("the daemon is not told of a compaction",
		func() bool { return slices.Equal(d.Compacting(), []string{key}) })
	id := d.Send("beta", "Can you look at the heron?")
	record(correlation.Injected{Session: n,
		Injection: correlation.Injection{Items: []string{"mem-1", "message:" + id}}})
	waitFor("the daemon is not told that a message was given",
		func() bool { return slices.Equal(d.Acknowledged(id), []string{key}) })

	for i, command := range []string{"/empty", "/compact", "/../skills/review", "/review"} {
		record(correlation.TurnBegan{Session: n, Turn: 100 + i, Key: key, Command: command})
	}
	waitFor("the daemon is not told of a skill", func() bool {
		told := d.Requests("/api/hooks/skill-invocation")
		return len(told) == 1 && told[0].JSON()["skillName"] == "review" && told[0].JSON()["sessionKey"] == key
	})

	record(correlation.TurnBegan{Session: n, Turn: 200, Key: key},
		correlation.Closed{Session: n, Reason: "session/close"})
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sessions)+len(f.turns)+len(f.warnings) > 0 {
		t.Errorf("of a session that is closed it knows %v %v %v", f.sessions, f.turns, f.warnings)
	}
}
