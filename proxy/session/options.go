package session

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// Options of a Table. Their functions may be called with the table's lock held, so they must not wait.
type Options struct {
	Harness  string                    // the name that the harness was started by
	AgentID  string                    // the Signet agent; "" is the daemon's default
	Project  func(cwd string) string   // the project of a folder; nil: memory.Project
	Exclude  []string                  // globs of folders whose sessions are left alone
	Commands []string                  // prefixes of slash commands
	Reinject Reinject                  // what goes in again after a compaction or a clear
	Traits   func(agent string) Traits // what is known of a harness by its agentInfo.name; nil: nothing
	Alias    string                    // the client that continues a session by a session/new after a failed load
	Events   Events                    // where events are recorded; nil: nowhere
	Now      func() time.Time
	Log      zerolog.Logger
}

// Events is the file of events; *eventlog.Log is one. No method may wait.
type Events interface {
	NewSession() int
	NewTurn() int
	Append(...eventlog.Event)
}

// Reinject says what goes in again after the harness has compacted or cleared the conversation.
type Reinject string

const (
	ReinjectNever    Reinject = "never"
	ReinjectIdentity Reinject = "identity" // identity after a compaction, everything after a clear
	ReinjectAll      Reinject = "all"      // everything after either
)
