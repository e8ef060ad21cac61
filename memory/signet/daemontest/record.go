package daemontest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A record is what a daemon was asked, for a test to look at.
type record struct {
	lock     sync.Mutex // guards what follows
	requests []Request
	ends     []End
	compacts []Compaction
	begun    []string // keys whose conversations are being compacted
	jobs     []Job
	feedback []Feedback
}

// note adds to the record.
func (r *record) note(add func(*record)) {
	r.lock.Lock()
	defer r.lock.Unlock()
	add(r)
}

// A Request is one that the daemon got, also one that it failed on purpose.
type Request struct {
	At     time.Time
	Method string
	Path   string // with the query
	Header http.Header
	Body   []byte
}

// JSON is the body as an object; nil if it is none.
func (r Request) JSON() map[string]any {
	var m map[string]any
	if json.Unmarshal(r.Body, &m) != nil {
		return nil
	}
	return m
}

// Requests returns what was asked of the given paths so far, in order; of all, without one.
func (r *record) Requests(paths ...string) []Request {
	r.lock.Lock()
	defer r.lock.Unlock()
	var out []Request
	for _, one := range r.requests {
		if len(paths) == 0 || slices.Contains(paths, route(one.Path)) {
			out = append(out, one)
		}
	}
	return out
}

// route is a path without its query.
func route(path string) string {
	route, _, _ := strings.Cut(path, "?")
	return route
}

// ForgetRequests empties the record of requests.
func (r *record) ForgetRequests() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.requests = nil
}

// Outcomes of a session-end.
const (
	Queued    = "queued"
	Dropped   = "dropped"
	Discarded = "discarded" // reason clear
	Duplicate = "duplicate" // ended already, newer kind
	Conflict  = "conflict"  // claimed by another path, newer kind
	Bare      = "bare"      // no transcript was given
	Bypassed  = "bypassed"
)

// An End is what a session-end brought, read within the request as the real daemon does.
type End struct {
	At                    time.Time
	Harness, Key, AgentID string
	Cwd, Reason           string
	TranscriptPath        string
	Inline                bool   // Transcript came in the body
	Transcript            string // as it was given, before normalising
	Kept                  string // what became a job; "" unless queued
	Stored                string // what is kept of the session, also where no job is made of it; not Older
	JobID, Outcome, Why   string
}

// Ends returns the session-ends so far; of one key, if given.
func (r *record) Ends(key ...string) []End {
	r.lock.Lock()
	defer r.lock.Unlock()
	var out []End
	for _, e := range r.ends {
		if len(key) == 0 || e.Key == key[0] {
			out = append(out, e)
		}
	}
	return out
}

// A Compaction is what a compaction-complete brought.
type Compaction struct{ Key, Summary, Project, MemoryID string }

// Compactions returns the compaction-completes so far.
func (r *record) Compactions() []Compaction {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(r.compacts)
}

// A Feedback is one rating call.
type Feedback struct {
	Key     string
	Ratings map[string]float64
}

// FeedbackGiven returns the ratings so far.
func (r *record) FeedbackGiven() []Feedback {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(r.feedback)
}

// A Job is what the daemon extracts: of an end, or of a checkpoint.
type Job struct{ Key, ID, Text string }

// Jobs returns the jobs so far.
func (r *record) Jobs() []Job {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(r.jobs)
}

// Compacting returns the keys of the pre-compactions so far.
func (r *record) Compacting() []string {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(r.begun)
}
