package daemontest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

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

// copyOf returns what a daemon has in one of its lists.
func copyOf[T any](d *Daemon, list *[]T) []T {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(*list)
}

// Requests returns what was asked of the given paths so far, in order; of all, without one.
func (d *Daemon) Requests(paths ...string) []Request {
	return slices.DeleteFunc(copyOf(d, &d.requests), func(r Request) bool {
		route, _, _ := strings.Cut(r.Path, "?")
		return len(paths) > 0 && !slices.Contains(paths, route)
	})
}

// ForgetRequests empties the record of requests.
func (d *Daemon) ForgetRequests() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests = nil
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
func (d *Daemon) Ends(key ...string) []End {
	return slices.DeleteFunc(copyOf(d, &d.ends), func(e End) bool { return len(key) > 0 && e.Key != key[0] })
}

// A Compaction is what a compaction-complete brought.
type Compaction struct{ Key, Summary, Project, MemoryID string }

// Compactions returns the compaction-completes so far.
func (d *Daemon) Compactions() []Compaction { return copyOf(d, &d.compactions) }

// Compacting returns the keys of the pre-compactions so far.
func (d *Daemon) Compacting() []string { return copyOf(d, &d.compacting) }

// A Feedback is one rating call.
type Feedback struct {
	Key     string
	Ratings map[string]float64
}

// FeedbackGiven returns the ratings so far.
func (d *Daemon) FeedbackGiven() []Feedback { return copyOf(d, &d.feedback) }

// A Job is what the daemon extracts: of an end, or of a checkpoint.
type Job struct{ Key, ID, Text string }

// Jobs returns the jobs so far.
func (d *Daemon) Jobs() []Job { return copyOf(d, &d.jobs) }
