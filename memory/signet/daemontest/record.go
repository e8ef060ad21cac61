package daemontest

import (
	"net/http"
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

// A Compaction is what a compaction-complete brought.
type Compaction struct{ Key, Summary, Project, MemoryID string }

// A Feedback is one rating call.
type Feedback struct {
	Key     string
	Ratings map[string]float64
}

// A Job is what the daemon extracts: of an end, or of a checkpoint.
type Job struct{ Key, ID, Text, Status string }

// What becomes of jobs (Daemon.Extract).
const (
	Completed = "completed"
	Waiting   = "pending"
	Dead      = "dead"    // as without a working model
	Skipped   = "skipped" // done, and nothing was worth a summary
)
