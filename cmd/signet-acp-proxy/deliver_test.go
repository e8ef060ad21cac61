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
		o := runtime.WorkerOptions(p.c, p.store, func(string) string { return "" }, zerolog.Nop())
		_, err := delivery.Run(t.Context(), o, delivery.OnePass)
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
