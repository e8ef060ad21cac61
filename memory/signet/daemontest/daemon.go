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
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
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

// Version is the version that the /health of a generation names.
func (g Generation) Version() string {
	switch g {
	case Newer:
		return "0.214.3"
	case Middle:
		return "0.145.8"
	}
	return "0.58.1"
}

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
	// Addr to listen on; "" means a free port of 127.0.0.1.
	Addr string
	Now  func() time.Time // nil: time.Now
	// Warnings come with each start of the newer kind.
	Warnings []string
	// Elsewhere: it opens none of our files, as in a container.
	Elsewhere bool
	// Captured is what the newer kind says of a transcript that it has captured; "" means "completed".
	Captured string
}

// SampleFiles are identity files with something to recognise in each.
var SampleFiles = map[string]string{
	"AGENTS.md":   "You are Alto, Robin's assistant. Answer briefly.",
	"SOUL.md":     "Calm, exact, a little dry.",
	"IDENTITY.md": "name: Alto\ndescription: Robin's assistant for the heron project",
	"USER.md":     "Robin works on the heron deployment and prefers tabs.",
	"MEMORY.md":   "# Working memory\nThe heron staging rollout is half done.",
}

// A Daemon is the stand-in. It is an http.Handler, and serves itself between Start (or Listen, Resume) and Close (or
// Stop). Safe for concurrent use.
type Daemon struct {
	record
	faults

	opts  Options
	mux   *http.ServeMux
	start time.Time

	mu       sync.Mutex
	server   *httptest.Server
	addr     string
	release  func()        // of the address, which is ours also while the server is stopped; nil: it is not reserved
	stopping chan struct{} // closed when the server stops; ends black holes
	sessions map[string]*session
	memories []*Memory
	messages []*message
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
	given      [][]string // ids that the last prompt-submits gave, newest first
	prompts    []string
	live       string   // the prompts as they came, Middle and Newer
	stored     string   // the longest transcript that there was, Middle and Newer
	bypassSaid bool     // a session-end was answered with bypassed, Older
	extracted  int      // bytes of its transcript that checkpoints have handed over, Middle and Newer
	recorded   []string // ids that were given under the key: feedback for others is rejected
}

// session returns the session of a key, new if need be. The caller holds d.mu.
func (d *Daemon) session(key string) *session {
	s := d.sessions[key]
	if s == nil {
		s = &session{}
		d.sessions[key] = s
	}
	return s
}

// Know makes words entities that the daemon knows: the newer and the middle kind then recall only for prompts with one
// of them. Before that, every word counts as one.
func (d *Daemon) Know(words ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entities = append(d.entities, words...)
}

// Live returns the live transcript of a key: the prompts that prompt-submit brought.
func (d *Daemon) Live(key string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session(key).live
}

// Sessions returns the keys that are claimed: the sessions that the daemon takes to be present.
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

// Claim makes another runtime path, such as "legacy", the owner of a key.
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

// A Memory is one that the daemon knows.
type Memory struct {
	ID, Content, Type, Tags string
	Project                 string // "": none
	Importance              float64
	Pinned, Forgotten       bool
	Created                 time.Time
	Reason                  string // of the last change
}

// A message is what one agent sent to another.
type message struct {
	id, from, content string
	sent              time.Time
	acknowledged      []string // keys
}

// heldByOther reports a claim of another path, which lasts 4 h. The caller holds d.mu.
func (d *Daemon) heldByOther(s *session, path string) bool {
	return s.path != "" && s.path != path && d.opts.Now().Sub(s.claimed) < 4*time.Hour
}
