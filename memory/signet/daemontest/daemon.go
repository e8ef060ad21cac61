// Package daemontest stands in for a Signet daemon in tests: it listens on loopback, answers the hooks and the memory
// API as the real one was recorded to (0.58.1 and 0.145.8) or reads to (the newer kind), records what it is asked, and
// fails on demand.
//
//	d := daemontest.Start(t, daemontest.Options{AgentsDir: dir})
//	d.Remember("Robin prefers tabs", "preference")
//	d.Fail(daemontest.Fault{Path: "/api/hooks/session-start", Kind: daemontest.BlackHole})
//
// It ranks nothing and summarises nothing: recall is by shared words, and what session-end gets is kept for the test to
// look at.
package daemontest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Generation is a kind of daemon.
type Generation int

const (
	Older  Generation = iota // 0.58.1, as it was recorded
	Newer                    // 0.214.3, as documented: split fields, fenced inject, one end a session
	Middle                   // 0.145.8, recorded: one end a session, a preamble, the prompts as a live transcript
)

// Recorded are the generations that were run; All has the documented one too.
var (
	Recorded = []Generation{Older, Middle}
	All      = []Generation{Older, Middle, Newer}
)

// A behaviour is what the daemons of a generation do where generations differ.
type behaviour struct {
	version string
	// documented: its replies have their text in two parts and fenced, messages come with them, and it knows claimOnly
	// and acknowledgements.
	documented bool
	first      []string // begins the text of a key's first start
	again      []string // is the text of any other one
	maxStart   int      // characters of a start's text; 0: no limit was seen
	forgets    bool     // loses claims and starts when it is restarted
	once       bool     // ends a key once in a while, and uses the longest transcript that it has had for the key

	// Of a transcript, in UTF-16 units as JavaScript counts: below least no job is made of it, of a longer one than max
	// the job has the beginning and cutMark.
	least, max int
	cutMark    string
	job        string // begins a job's id
}

var behaviours = map[Generation]behaviour{
	Older: {
		version: "0.58.1", first: []string{statusLine, "[predictor: offline | baseline only]"},
		again: []string{statusLine}, maxStart: 24_000, forgets: true,
		least: 500, max: 100_000, cutMark: "\n[truncated]", job: "job",
	},
	Middle: {
		version: "0.145.8", first: []string{preamble, statusLine}, again: []string{preamble, statusLine},
		once: true, least: 500, max: 100_000, job: "job",
	},
	Newer: {
		version: "0.214.3", documented: true, first: []string{statusLine}, again: []string{statusLine},
		maxStart: 24_000, once: true, least: 1, max: 1 << 30, job: "capture",
	},
}

// Version is the version that the /health of a generation names.
func (g Generation) Version() string { return behaviours[g].version }

// Options of a daemon. The zero value is an older one without authentication, with SampleFiles.
type Options struct {
	Generation Generation
	Version    string // "" means the generation's
	AgentsDir  string // the folder that /health names
	Token      string // team mode: every route needs it
	// Files are the identity files by name; nil means the sample of SampleFiles.
	Files map[string]string
	// MCP, if not nil, serves /mcp.
	MCP http.Handler
	Now func() time.Time // nil: time.Now
	// Warnings come with each start of the newer kind.
	Warnings []string
}

// SampleFiles are identity files with something to recognise in each.
var SampleFiles = map[string]string{
	"AGENTS.md":   "You are Alto, Robin's assistant. Answer briefly.",
	"SOUL.md":     "Calm, exact, a little dry.",
	"IDENTITY.md": "name: Alto\ndescription: Robin's assistant for the heron project",
	"USER.md":     "Robin works on the heron deployment and prefers tabs.",
	"MEMORY.md":   "# Working memory\nThe heron staging rollout is half done.",
}

// A Daemon is the stand-in. It listens between Start (or Listen, Resume) and Close (or Stop). Safe for concurrent use.
type Daemon struct {
	behaviour
	opts Options
	mux  *http.ServeMux

	mu       sync.Mutex // guards what follows, also while a request is answered
	server   *httptest.Server
	addr     string
	release  func()        // of the address, which is ours also while the server is stopped; nil: it is not reserved
	stopping chan struct{} // closed when the server stops; ends black holes

	sessions map[string]*session
	memories []*Memory
	messages []*message
	entities []string // words that the daemon knows as entities
	serial   int
	faults   []*Fault

	requests    []Request
	ends        []End
	jobs        []Job
	compacting  []string
	compactions []Compaction
	feedback    []Feedback
}

// Start makes a daemon that listens until the test ends.
func Start(tb testing.TB, o Options) *Daemon {
	tb.Helper()
	d, err := Listen(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.Close)
	return d
}

// Listen makes a daemon that listens until Close.
func Listen(o Options) (*Daemon, error) {
	d := &Daemon{behaviour: behaviours[o.Generation], opts: o, sessions: map[string]*session{}}
	if o.Version != "" {
		d.version = o.Version
	}
	if o.Files == nil {
		d.opts.Files = SampleFiles
	}
	if o.Now == nil {
		d.opts.Now = time.Now
	}
	d.mux = d.routes()
	var err error
	if d.addr, d.release, err = reserve("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("daemontest: %w", err)
	}
	if err := d.Resume(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Resume listens, after Stop again on the same address.
func (d *Daemon) Resume() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		return errors.New("daemontest: listening already")
	}
	l, err := net.Listen("tcp", d.addr)
	// what was accepted just before Stop may not be closed yet
	for i := 0; errors.Is(err, syscall.EADDRINUSE) && i < 100; i++ {
		time.Sleep(20 * time.Millisecond)
		l, err = net.Listen("tcp", d.addr)
	}
	if err != nil {
		return fmt.Errorf("daemontest: %w", err)
	}
	d.addr = l.Addr().String()
	d.stopping = make(chan struct{})
	d.server = &httptest.Server{Listener: l,
		Config: &http.Server{Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: time.Minute}}
	d.server.Start()
	return nil
}

// Stop ends every connection and stops listening, so that connections are refused. Memories stay. The older kind loses
// its claims and which keys were started, as a restart does.
func (d *Daemon) Stop() {
	d.mu.Lock()
	server := d.server
	d.server = nil
	if server != nil {
		close(d.stopping)
	}
	for _, s := range d.sessions {
		if d.forgets {
			s.seen, s.path = false, ""
		}
	}
	d.mu.Unlock()
	if server != nil {
		server.CloseClientConnections()
		server.Close()
	}
}

// Close is Stop, for good: the address is free again.
func (d *Daemon) Close() {
	d.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.release != nil {
		d.release()
		d.release = nil
	}
}

// URL is the daemon's origin, also while it is stopped.
func (d *Daemon) URL() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return "http://" + d.addr
}
