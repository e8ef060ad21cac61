package daemontest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

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
	becomes     string // of jobs; "": Completed
	compacting  []string
	compactions []Compaction
	feedback    []Feedback
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
	Now func() time.Time // nil: time.Now
	// Warnings come with each start of the newer kind.
	Warnings []string
}

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
	bound      bool     // takes no hook of a key that was not started for its agent and project, nor any with an Origin
	once       bool     // ends a key once in a while, and uses the longest transcript that it has had for the key

	// Of a transcript, in UTF-16 units as JavaScript counts: below least no job is made of it, of a longer one than max
	// the job has the beginning and cutMark.
	least, max int
	cutMark    string
	job        string // begins a job's id
}

type session struct {
	path       string // runtime path of the claim; "" is none
	claimed    time.Time
	seen       bool // had a full start
	started    bool // since it was last discarded, for
	agent      string
	project    string
	bypassed   bool
	ended      time.Time
	endedBy    string
	given      [][]string // ids that the last prompt-submits gave, newest first
	live       string     // the prompts as they came; not Older
	stored     string     // the longest transcript that there was; not Older
	bypassSaid bool       // a session-end was answered with bypassed
	extracted  int        // bytes of its transcript that checkpoints have handed over; not Older
	recorded   []string   // ids that were given under the key: feedback for others is rejected
}

// session returns the session of a key, new if need be.
func (d *Daemon) session(key string) *session {
	s := d.sessions[key]
	if s == nil {
		s = &session{}
		d.sessions[key] = s
	}
	return s
}

// A message is what one agent sent to another.
type message struct {
	id, from, content string
	sent              time.Time
	acknowledged      []string // keys
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

// A Generation is a kind of daemon.
type Generation int

const (
	Older  Generation = iota // 0.58.1, as it was recorded
	Newer                    // 0.214.3, as documented: split fields, fenced inject, one end a session
	Bound                    // 1.0.1, by its release notes: as Newer, and hooks stay with a start's agent and project
	Middle                   // 0.145.8, recorded: one end a session, a preamble, the prompts as a live transcript
)

// id makes an id that is the same in each run.
func (d *Daemon) id(kind string) string {
	d.serial++
	return fmt.Sprintf("%s-%04d", kind, d.serial)
}
