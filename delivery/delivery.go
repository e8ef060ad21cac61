// Package delivery delivers what sessions have left: transcripts to a Signet daemon, and to the command that a
// person configured. What is owed is a row, package correlation's Debt; one process at a time takes up what is due,
// posts it, reads the answer and notes what became of it. What it does can be repeated: whoever comes after one that
// was killed goes on with the same turns, cut as they were. The detached worker that a process leaves (Dispatcher), the
// sweep at a start and the command that a person runs all deliver by Worker.Run.
//
//	worker := delivery.Worker{Store: store, Daemon: daemonAt, Folder: dir}
//	left, err := worker.Run(ctx, delivery.UntilQuiet)
//
// It knows a Daemon by the interface that it declares; Signet is the one that there is. It logs ids, counts and
// durations, never what anybody said.
package delivery

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

// A Daemon takes what sessions leave. Its methods end when ctx does, and by deadlines of their own. After the error
// signet.ErrNoAnswer it may have taken a post; after any other it has not.
type Daemon interface {
	// Present reports whether there is a daemon that may be spoken to.
	Present(ctx context.Context) (signet.Health, error)
	// End delivers a session, or a part of one under a key of its own.
	End(ctx context.Context, e signet.End) (Reply, error)
	// SwitchedOff reports whether a person has switched the session of a key off.
	SwitchedOff(ctx context.Context, key string) (bool, error)
	// Became asks what became of jobs, of a session's agent.
	Became(ctx context.Context, s memory.Session, jobs []correlation.Job) ([]correlation.Job, error)
	// Free ends a session under whose key nothing is left to deliver.
	Free(ctx context.Context, s memory.Session) error
	// Compacted delivers a harness's own summary.
	Compacted(ctx context.Context, of memory.Session, summary string) (Reply, error)
	// Remember delivers a memory that a tool stored, unless the daemon has it: after any error it is tried again.
	Remember(ctx context.Context, m signet.Note) (Reply, error)
}

// A Reply is what a daemon made of a post.
type Reply struct {
	Note    string        // one line, for people
	Job     string        // the daemon's name for what it makes of a transcript
	Dropped bool          // answered, and not taken
	Why     string        // why it was dropped, where that is known
	Off     bool          // a person has switched the session off: nothing of it is delivered, now or later
	Later   bool          // not taken now: it has to be posted again
	After   time.Duration // with Later: not before
}

// A Worker makes deliveries, one at a time.
type Worker struct {
	Store *correlation.Store
	// Like is how a process is configured that would owe what the worker finds: with it nobody ends unused keys at a
	// daemon that nobody expects.
	Like correlation.ProcessInfo
	// Daemon returns the daemon at a URL; "" is the configured one. nil: there is none.
	Daemon func(url string) (Daemon, error)
	Hook   []string // on_session_end, a command with its arguments; empty: none
	Folder string   // of the database; transcripts lie in a folder in it while they are delivered
	// StaleAfter is the age at which a key that was started and never used is freed. Zero: no key is.
	StaleAfter time.Duration
	Retention  Retention
	// Detached is a worker that a relay has left. One is enough for a database.
	Detached bool

	Now func() time.Time // nil: time.Now
	Log zerolog.Logger

	daemons map[string]*daemonState // by URL, for this pass
}

// A daemonState is a daemon and how it answered Present. A daemon that does not answer is not posted to, which would
// only leave the post in doubt.
type daemonState struct {
	daemon Daemon
	err    error // why nothing can be posted
}
