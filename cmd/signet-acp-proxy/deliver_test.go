package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// An owing is a configuration, its database, and a daemon that is owed something.
type owing struct {
	t      *testing.T
	c      *config.Config
	store  *correlation.Store
	daemon *daemontest.Daemon
}

func newOwing(t *testing.T) *owing {
	dir := t.TempDir()
	t.Setenv("SIGNET_ACP_HOLD", "1.5s")
	p := &owing{t: t, daemon: daemontest.Start(t, daemontest.Options{AgentsDir: dir})}
	var err error
	p.c, err = config.Load(config.Flags{SignetPath: dir, DaemonURL: p.daemon.URL()})
	check(t, err)
	db, err := migrations.Open(t.Context(), p.c.DB)
	check(t, err)
	t.Cleanup(func() { db.Close() })
	p.store = correlation.New(db, correlation.Options{LiveDir: p.c.LiveDir()})
	return p
}

// leave leaves a session with a turn, owed to the daemon at a url.
func (p *owing) leave(id, url string) correlation.Session {
	p.t.Helper()
	ctx := p.t.Context()
	process, err := p.store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon", URL: url})
	check(p.t, err)
	s, err := correlationtest.Session(ctx, p.store, correlation.OpenSession{Harness: "echo", ACPID: id, Process: process.ID()})
	check(p.t, err)
	check(p.t, correlationtest.Save(ctx, p.store, []correlation.Turn{{Session: s.ID, Process: process.ID(), User: long,
		Ended: time.Now()}}))
	check(p.t, process.End(ctx, "ended"))
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var long = strings.Repeat("The heron stands in the shallow water. ", 20)

// The url of the row is used, and a flag stands above it.
func TestDeliverTo(t *testing.T) {
	p := newOwing(t)
	other := daemontest.Start(t, daemontest.Options{AgentsDir: p.c.SignetPath})
	work := func() {
		w := runtime.Worker(p.c, p.store, func(string) string { return "" }, zerolog.Nop())
		_, err := w.Run(t.Context(), delivery.OnePass)
		check(t, err)
	}
	p.leave("by flag", other.URL())
	work()
	t.Setenv("SIGNET_DAEMON_URL", p.c.DaemonURL)
	var err error
	p.c, err = config.Load(config.Flags{SignetPath: p.c.SignetPath})
	check(t, err)
	p.leave("by row", other.URL())
	work()
	if a, b := len(p.daemon.Ends()), len(other.Ends()); a != 1 || b != 1 {
		t.Errorf("%d to the flag's, %d to the row's", a, b)
	}
}

// deliver is for people too. --wait ends when nothing is owed, or when all that is left has failed.
func TestDeliverCommand(t *testing.T) {
	p := newOwing(t)
	s := p.leave("one", "")
	in, err := os.Open(os.DevNull)
	check(t, err)
	defer in.Close()
	var out, said strings.Builder
	deliver := func(how string, code int, want string) {
		t.Helper()
		said.Reset()
		got := run([]string{"deliver", how, "--signet-path", p.c.SignetPath, "--daemon-url", p.c.DaemonURL},
			term.Streams{In: in, Out: &out, Err: &said})
		if got != code || !strings.Contains(said.String(), want) || want == "" && said.String() != "" {
			t.Errorf("%s: exit %d, want %d: %s", how, got, code, said.String())
		}
	}
	p.daemon.Stop()
	deliver("--once", 0, "1 delivery still pending")
	deliver("--wait", 1, "1 delivery failed and pending")
	check(t, p.daemon.Resume())
	deliver("--wait", 0, "")
	p.leave("one", "") // not worth a job of its own yet
	deliver("--wait", 0, "1 delivery waiting on purpose")
	rows, err := p.store.Book().DebtsOf(t.Context(), s.ID)
	check(t, err)
	if len(rows) != 2 || rows[0].State != correlation.Delivered || rows[1].State != correlation.Owed {
		t.Errorf("%+v", rows)
	}
	if out.String() != "" {
		t.Errorf("stdout: %s", out.String())
	}
	if code := run([]string{"deliver", "--signet-path", filepath.Join(t.TempDir(), "none")},
		term.Streams{In: in, Out: &out, Err: &said}); code != 0 {
		t.Errorf("without a database: exit %d: %s", code, said.String())
	}
}

// What is pending for an address that is no more says so, and is moved to the configured daemon if that is ours.
func TestDeliverToConfigured(t *testing.T) {
	p := newOwing(t)
	gone := daemontest.Start(t, daemontest.Options{})
	gone.Stop()
	s := p.leave("one", gone.URL())
	stranger := daemontest.Start(t, daemontest.Options{AgentsDir: "/somebody/else"})
	t.Setenv("SIGNET_DAEMON_URL", stranger.URL())
	in, err := os.Open(os.DevNull)
	check(t, err)
	defer in.Close()
	deliver := func(code int, want string, flags ...string) {
		t.Helper()
		var out, said strings.Builder
		args := append([]string{"deliver", "--once", "--signet-path", p.c.SignetPath}, flags...)
		got := run(args, term.Streams{In: in, Out: &out, Err: &said})
		if got != code || !strings.Contains(said.String(), want) || out.Len() > 0 {
			t.Errorf("%v: exit %d, want %d and %q: %s", flags, got, code, want, said.String())
		}
	}
	deliver(0, "1 delivery still pending: 1 for "+gone.URL()+"; --to-configured moves")
	deliver(1, "1 delivery: 1 for "+gone.URL(), "--to-configured")
	deliver(1, "to move them to "+stranger.URL()+", add --yes", "--to-configured")
	deliver(1, "nothing was moved: "+stranger.URL(), "--to-configured", "--yes")
	t.Setenv("SIGNET_DAEMON_URL", p.daemon.URL())
	deliver(0, "1 delivery moved to "+p.daemon.URL(), "--to-configured", "--yes")
	deliver(0, "nothing is pending for another address", "--to-configured", "--yes")
	if ends := p.daemon.Ends(s.Key); len(ends) != 1 || len(stranger.Ends()) != 0 {
		t.Errorf("%d to ours, %d to a stranger", len(ends), len(stranger.Ends()))
	}
}

// What became of what the daemon took is shown, and doctor warns of one whose jobs die.
func TestJobsThatDie(t *testing.T) {
	p := newOwing(t)
	s := p.leave("one", "")
	in, err := os.Open(os.DevNull)
	check(t, err)
	defer in.Close()
	prints := func(want string, args ...string) {
		t.Helper()
		var out, said strings.Builder
		run(append(args, "--signet-path", p.c.SignetPath, "--daemon-url", p.c.DaemonURL),
			term.Streams{In: in, Out: &out, Err: &said})
		if !strings.Contains(out.String()+said.String(), want) {
			t.Errorf("%v: %s%s\nwant %q", args, out.String(), said.String(), want)
		}
	}
	p.daemon.Extract(daemontest.Waiting)
	prints("", "deliver", "--once")
	prints("delivered: pending", "show", "one")
	p.daemon.Extract(daemontest.Dead)
	db, err := migrations.Open(t.Context(), p.c.DB)
	check(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `UPDATE debts SET ask = 1`) // five minutes have passed
	check(t, err)
	prints("", "deliver", "--once")
	prints("delivered: dead", "show", "one")
	prints(`"parts": [
      {
        "signetSessionKey": "`+s.Key+`",
        "job": "job-0001",
        "turns": 1,
        "state": "dead"
      }
    ]`, "sessions", "--json")
	prints("1 of its 1 job died, so it has no memories of these conversations", "doctor")
	prints("1 turn too short or not extracted by the daemon", "doctor")
}
