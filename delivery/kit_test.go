package delivery

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// A post is a stand-in for the daemon, and a database with what is owed to it.
type post struct {
	t      *testing.T
	dir    string
	keep   time.Duration
	kind   daemontest.Generation
	store  *correlation.Store
	daemon *daemontest.Daemon
	others map[string]*daemontest.Daemon // by URL

	mu  sync.Mutex // guards now
	now time.Time
}

// kinds are the versions of the daemon; the race detector sees one of them.
func kinds() []daemontest.Generation {
	if testing.Short() {
		return daemontest.All[3:]
	}
	return daemontest.All
}

func newPost(t *testing.T, g daemontest.Generation) *post {
	p := &post{t: t, kind: g, dir: t.TempDir(), keep: 24 * time.Hour, now: time.Now()}
	p.daemon = daemontest.Start(t, daemontest.Options{Generation: g, AgentsDir: p.dir, Now: p.clock})
	db, err := migrations.Open(t.Context(), filepath.Join(p.dir, "acp", "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	p.store = correlation.New(db, correlation.Options{LiveDir: filepath.Join(p.dir, "acp", "live"), Now: p.clock})
	return p
}

// at returns the stand-in as a worker sees it.
func (p *post) at(url string) (Daemon, error) {
	d := p.daemon
	if other := p.others[url]; other != nil {
		d = other
	}
	c, err := signet.New(signet.Options{URL: d.URL(), Configured: true, SignetPath: p.dir, Now: p.clock})
	return Signet{c}, err
}

func (p *post) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *post) later(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
}

// say leaves a session with turns, said by a process that has ended.
func (p *post) say(id string, turns ...correlation.Turn) correlation.Session {
	p.t.Helper()
	ctx := p.t.Context()
	process, err := p.store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"})
	check(p.t, err)
	s, err := correlationtest.Session(ctx, p.store, correlation.OpenSession{Harness: "echo", ACPID: id,
		Cwd: "/work", Process: process.ID()})
	check(p.t, err)
	for i := range turns {
		turns[i].Session, turns[i].Process, turns[i].Started, turns[i].Ended = s.ID, process.ID(), p.clock(), p.clock()
	}
	check(p.t, correlationtest.Save(ctx, p.store, turns))
	check(p.t, process.End(ctx, "ended"))
	return s
}

// work runs one pass of a worker.
func (p *post) work() { p.t.Helper(); p.workWithin(p.t.Context()) }

// workUntilAsked is work against a daemon that never answers at a path: it ends once it has asked there.
func (p *post) workUntilAsked(path string) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for len(p.daemon.Requests(path)) == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	})
	p.workWithin(ctx)
	cancel()
	asking.Wait()
}

func (p *post) workWithin(ctx context.Context) {
	p.t.Helper()
	folder := filepath.Join(p.dir, "acp")
	w := Worker{Store: p.store, Daemon: p.at, Folder: folder, StaleAfter: 15 * time.Minute, Now: p.clock,
		Like: correlation.ProcessInfo{SignetPath: p.dir, Memory: "daemon"}, Retention: Retention{Keep: p.keep}}
	_, err := w.Run(ctx, OnePass)
	check(p.t, err)
	if left, _ := os.ReadDir(transcriptDir(folder)); len(left) > 0 {
		p.t.Errorf("transcripts are left: %v", left)
	}
}

// states are the rows of a session as "state attempts".
func (p *post) states(s correlation.Session) (all []string) {
	p.t.Helper()
	rows, err := p.store.Book().DebtsOf(p.t.Context(), s.ID)
	check(p.t, err)
	for _, d := range rows {
		all = append(all, fmt.Sprintf("%s %d", d.State, d.Attempts))
	}
	return all
}

func (p *post) outcomes() (all []string) {
	for _, e := range p.daemon.Ends() {
		all = append(all, e.Outcome)
	}
	return all
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func turn(user, assistant string) correlation.Turn {
	return correlation.Turn{User: user, Assistant: assistant, Stop: "end_turn"}
}

var long = strings.Repeat("The heron stands in the shallow water. ", 20)

const endPath = "/api/hooks/session-end"
