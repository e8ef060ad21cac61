//go:build unix

package delivery

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

func sh(script string) []string { return []string{"sh", "-c", script} }

// The hook gets the session as JSON, and a transcript to read while it runs.
func TestHook(t *testing.T) {
	b := newBench(t)
	b.w.Hook = sh(`cat > in.json; cp "$(sed 's/.*"transcriptPath":"\([^"]*\)".*/\1/' in.json)" said.txt; ` +
		`echo saved 3; echo warned >&2`)
	s := b.say(toHook, "hello", "hi")
	b.work()
	d := b.only(s)
	if d.State != correlation.Delivered || d.Reply != "saved 3\nwarned" {
		t.Errorf("%+v", d)
	}
	text, err := os.ReadFile(filepath.Join(b.dir, "in.json"))
	if err != nil {
		t.Fatal(err)
	}
	var in map[string]any
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"acpxSessionId": "one", "acpxRecordId": "record", "signetSessionKey": s.Key, "harness": "echo", "cwd": b.dir,
		"project": b.dir, "turns": 1.0, "reason": "ended",
	} {
		if in[name] != want {
			t.Errorf("%s: %v, want %v", name, in[name], want)
		}
	}
	for _, name := range []string{"started", "ended"} {
		if at, err := time.Parse(time.RFC3339, in[name].(string)); err != nil || at.Location() != time.UTC {
			t.Errorf("%s: %v", name, in[name])
		}
	}
	if said, _ := os.ReadFile(filepath.Join(b.dir, "said.txt")); string(said) != "User: hello\nAssistant: hi\n" {
		t.Errorf("transcript: %q", said)
	}
	if _, err := os.Stat(in["transcriptPath"].(string)); !os.IsNotExist(err) {
		t.Errorf("the transcript is left: %v", err)
	}
	b.work()
	if d := b.only(s); d.Attempts != 1 {
		t.Errorf("run %d times", d.Attempts)
	}
}

// What a session's agent noted later is handed to the hook by itself: what was said it has had.
func TestHookNotes(t *testing.T) {
	b := newBench(t)
	b.w.Hook = sh(`cat > in.json; cp "$(sed 's/.*"transcriptPath":"\([^"]*\)".*/\1/' in.json)" said.txt`)
	s := b.say(toHook, "hello", "hi")
	b.work()
	turns, err := b.ToldOf(t.Context(), s.ID)
	if err != nil || len(turns) != 1 {
		t.Fatalf("%d turns (%v)", len(turns), err)
	}
	n, err := b.BeginNoting(t.Context(), s.ID, turns[0].Turn)
	check(t, err)
	n.Ended, n.Notes = b.now, 1
	check(t, sqlite.Write(t.Context(), b.db, "", func(tx *sql.Tx) error {
		return correlation.EndNoting(t.Context(), tx, n,
			[]correlation.Debt{{Kind: correlation.KindHook, HookCommand: b.w.Hook, Payload: `[{"text":"a"}]`}})
	}))
	b.work()
	var in struct {
		Reason, SignetSessionKey string
		Notes                    []struct{ Text string }
	}
	text, err := os.ReadFile(filepath.Join(b.dir, "in.json"))
	check(t, errors.Join(err, json.Unmarshal(text, &in)))
	if in.Reason != "notes" || in.SignetSessionKey != s.Key || len(in.Notes) != 1 || in.Notes[0].Text != "a" {
		t.Errorf("it got %s", text)
	}
	if said, err := os.ReadFile(filepath.Join(b.dir, "said.txt")); len(said) > 0 || err != nil {
		t.Errorf("transcript: %q (%v)", said, err)
	}
	if all, err := b.Book().DebtsOf(t.Context(), s.ID); err != nil || len(all) != 2 ||
		all[0].State != correlation.Delivered || all[1].State != correlation.Delivered {
		t.Errorf("%+v (%v)", all, err)
	}
}

// One that fails is tried again; what it said is kept.
func TestHookFails(t *testing.T) {
	for name, tt := range map[string]struct {
		hook []string
		want string
		temp string // the folder for temporary files, if not the usual one
	}{
		"no room":      {hook: sh("true"), want: "on_session_end: open /no/such/folder", temp: "/no/such/folder"},
		"exit code":    {hook: sh(`echo broken; exit 3`), want: "exit status 3: broken"},
		"not there":    {hook: []string{"no-such-command-anywhere"}, want: "not found"},
		"a lot to say": {hook: sh(`head -c 100000 /dev/zero | tr '\0' x; echo; echo the end; exit 1`), want: "the end"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.w.Hook = tt.hook
			s := b.say(toHook, "hello", "hi")
			usual := os.TempDir()
			t.Setenv("TMPDIR", cmp.Or(tt.temp, usual))
			b.work()
			t.Setenv("TMPDIR", usual)
			if d := b.only(s); d.State != correlation.Owed || d.Attempts != 1 || !strings.Contains(d.Error, tt.want) {
				t.Errorf("%+v", d)
			}
			b.work() // too soon
			b.w.Hook = sh("true")
			b.now = b.now.Add(time.Minute)
			b.work()
			if d := b.only(s); d.State != correlation.Delivered || d.Attempts != 2 {
				t.Errorf("%+v", d)
			}
		})
	}
}

// One that leaves something running has ended all the same, and is not run again.
func TestHookLeavesSomething(t *testing.T) {
	b := newBench(t)
	b.w.Hook = sh(`cat > /dev/null; echo started; sleep 5 & exit 0`)
	s := b.say(toHook, "hello", "hi")
	b.work()
	if d := b.only(s); d.State != correlation.Delivered || d.Reply != "started" {
		t.Errorf("%+v", d)
	}
}

// One that does not read what it is given breaks no pipe: the worker is not told to end by it, and it runs once.
func TestHookReadsNothing(t *testing.T) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	for i := range 20 {
		script := "exit 0"
		if i%2 == 1 {
			script = "exec 0<&-; echo fine"
		}
		if _, err := runCommand(t.Context(), sh(script), time.Minute, hookInput{Cwd: strings.Repeat("x", 1<<20)}); err != nil {
			t.Error(err)
		}
	}
	select {
	case <-broken:
		t.Error("a pipe broke")
	default:
	}
}

// What ended a hook is said.
func TestHookEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		limit, left time.Duration
		want        string
	}{
		"limit": {50 * time.Millisecond, time.Minute, "on_session_end: ended after its limit of 50ms: "},
		"stopped": {time.Minute, 50 * time.Millisecond,
			"on_session_end: ended with its worker: context deadline exceeded: "},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tt.left)
			defer cancel()
			_, err := runCommand(ctx, sh("sleep 60 & sleep 60"), tt.limit, hookInput{})
			if err == nil || err.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// It is run after the daemon, or without one.
func TestHookAfterDaemon(t *testing.T) {
	b := newBench(t)
	info := toDaemon
	info.Hook = true
	order := filepath.Join(b.dir, "order")
	b.w.Hook = sh(`echo hook >> order`)
	b.daemon.answer = func(signet.End) (Reply, error) {
		return Reply{}, os.WriteFile(order, []byte("daemon\n"), 0o600)
	}
	b.say(info, "hello", "hi")
	b.work()
	if text, _ := os.ReadFile(order); string(text) != "daemon\nhook\n" {
		t.Errorf("%q", text)
	}
}

// A daemon that does not answer leaves the hook some of the time.
func TestHookInLittleTime(t *testing.T) {
	b := newBench(t)
	info := toDaemon
	info.Hook = true
	b.w.Hook = sh(`touch ran`)
	b.daemon.hang = true
	b.say(info, "hello", "hi")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := b.w.Run(ctx, OnePass); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err != nil {
		t.Error(err)
	}
}

// A delivery runs the command that it carries, else the configured one; where there is none any more it is dropped.
func TestHookCommand(t *testing.T) {
	carries := toHook
	carries.HookCommand = sh("echo carried")
	for name, tt := range map[string]struct {
		info  correlation.ProcessInfo
		hook  []string
		state correlation.DebtState
		said  string
		runs  int
	}{
		"carried":    {carries, sh("echo configured"), correlation.Delivered, "carried", 1},
		"configured": {toHook, sh("echo configured"), correlation.Delivered, "configured", 1},
		"gone":       {toHook, nil, correlation.Dropped, "", 0},
	} {
		b := newBench(t)
		b.w.Hook = tt.hook
		s := b.say(tt.info, "hello", "hi")
		b.work()
		if d := b.only(s); d.State != tt.state || d.Reply != tt.said || d.Attempts != tt.runs {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
