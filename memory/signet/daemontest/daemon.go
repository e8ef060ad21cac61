// Package daemontest stands in for a Signet daemon in tests: it listens on
// loopback, answers the hooks and the memory API as the real one was recorded
// to (0.58.1 and 0.145.8) or reads to (the newer kind), records what it is
// asked, and fails on demand.
//
//	d := daemontest.Start(t, daemontest.Options{AgentsDir: dir})
//	d.Remember("Robin prefers tabs", "preference")
//	d.Fail(daemontest.Fault{Path: "/api/hooks/session-start", Kind: daemontest.BlackHole})
//
// It ranks nothing and summarises nothing: recall is by shared words, and what
// session-end gets is kept for the test to look at.
package daemontest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// A Generation is a kind of daemon.
type Generation int

const (
	Older  Generation = iota // 0.58.1, recorded
	Newer                    // 0.214.3, as documented: split fields, fenced inject, one end a session
	Middle                   // 0.145.8, recorded: one end a session, a preamble, the prompts as a live transcript
)

// Recorded are the generations that were run; All has the documented one too.
var (
	Recorded = []Generation{Older, Middle}
	All      = []Generation{Older, Middle, Newer}
)

// Version is the version that a generation's /health names.
func (g Generation) Version() string {
	switch g {
	case Newer:
		return "0.214.3"
	case Middle:
		return "0.145.8"
	}
	return "0.58.1"
}

// Options of a daemon. The zero value is an older one without authentication,
// whose identity is that of Files.
type Options struct {
	Generation Generation
	Version    string // "" means the generation's
	AgentsDir  string // what /health names
	Token      string // team mode: every route needs it
	// Files are the identity files by name; nil means the sample of SampleFiles.
	Files map[string]string
	// MCP, if not nil, serves /mcp.
	MCP http.Handler
	// Addr to listen on; "" means a free port of 127.0.0.1.
	Addr string
	Now  func() time.Time // nil: time.Now
	// Warnings come with each start, of the newer kind.
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

// A Daemon is the stand-in. It is an http.Handler, and serves itself between
// Start (or Listen, Resume) and Close (or Stop). Safe for concurrent use.
type Daemon struct {
	opts  Options
	mux   *http.ServeMux
	start time.Time

	mu       sync.Mutex
	server   *httptest.Server
	addr     string
	stopping chan struct{} // closed when the server stops; ends black holes
	requests []Request
	faults   []*Fault
	sessions map[string]*session
	memories []*Memory
	ends     []End
	compacts []Compaction
	begun    []string // keys whose conversations are being compacted
	soFar    []Checkpoint
	messages []*message
	feedback []Feedback
	serial   int
	entities []string // words that the daemon knows as entities
}

type session struct {
	path       string // runtime path of the claim; "" is none
	claimed    time.Time
	seen       bool // had a full start
	bypassed   bool
	ended      time.Time
	endedBy    string
	project    string
	given      [][]string // ids of the last prompt-submit hits, newest first
	prompts    []string
	live       string   // the prompts as they came, Middle and Newer
	transcript string   // the longest that was captured, Newer
	bypassSaid bool     // a session-end was answered with bypassed, Older
	extracted  int      // characters of its transcript that checkpoints have brought, Newer
	recorded   []string // ids that were given under the key: feedback for others is rejected
}

// New makes a daemon that does not listen.
func New(o Options) *Daemon {
	if o.Version == "" {
		o.Version = o.Generation.Version()
	}
	if o.Files == nil {
		o.Files = SampleFiles
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Daemon{opts: o, start: o.Now(), sessions: map[string]*session{}, stopping: make(chan struct{})}
	d.mux = d.routes()
	return d
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
	d := New(o)
	d.addr = o.Addr
	if d.addr == "" {
		d.addr = "127.0.0.1:0"
	}
	return d, d.Resume()
}

// Resume listens, again after Stop, on the same address.
func (d *Daemon) Resume() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		return errors.New("daemontest: listening already")
	}
	l, err := net.Listen("tcp", d.addr)
	if err != nil {
		return fmt.Errorf("daemontest: %w", err)
	}
	d.addr = l.Addr().String()
	d.stopping = make(chan struct{})
	d.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: d, ReadHeaderTimeout: time.Minute}}
	d.server.Start()
	return nil
}

// Stop ends every connection and listens no more, so that connections are
// refused. What the daemon knows stays; session-start dedup and claims go, as
// with a restart of the older kind.
func (d *Daemon) Stop() {
	d.mu.Lock()
	server := d.server
	d.server = nil
	if server != nil {
		close(d.stopping)
	}
	if d.opts.Generation == Older {
		for _, s := range d.sessions {
			s.seen, s.path = false, ""
		}
	}
	d.mu.Unlock()
	if server != nil {
		server.CloseClientConnections()
		server.Close()
	}
}

// Close is Stop, for good.
func (d *Daemon) Close() { d.Stop() }

// URL is the daemon's origin, also while it is stopped.
func (d *Daemon) URL() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return "http://" + d.addr
}

// session gives the session of a key, new if need be. The caller holds d.mu.
func (d *Daemon) session(key string) *session {
	s := d.sessions[key]
	if s == nil {
		s = &session{}
		d.sessions[key] = s
	}
	return s
}

// Know makes words entities that the daemon knows: all but the older kind recall for prompts with one of them alone.
// Without any, every word is one.
func (d *Daemon) Know(words ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entities = append(d.entities, words...)
}

// Live gives the live transcript of a key: the prompts that prompt-submit brought.
func (d *Daemon) Live(key string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session(key).live
}

// Sessions gives the keys that are claimed, which is who is present.
func (d *Daemon) Sessions() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var keys []string
	for key, s := range d.sessions {
		if s.path != "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// Claim makes another runtime path ("legacy") the owner of a key.
func (d *Daemon) Claim(key, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session(key)
	s.path, s.claimed = path, d.opts.Now()
}

// Bypass switches a session's hooks off or on.
func (d *Daemon) Bypass(key string, on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session(key).bypassed = on
}

// id makes an id that is the same in each run. The caller holds d.mu.
func (d *Daemon) id(kind string) string {
	d.serial++
	return fmt.Sprintf("%s-%04d", kind, d.serial)
}
