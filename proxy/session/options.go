package session

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// Options are what sessions are handled by. Funcs may be called with the table's lock held.
type Options struct {
	Harness  string                    // what the harness was started as
	AgentID  string                    // the Signet agent; "" is the daemon's default
	Project  func(cwd string) string   // the project of a folder; nil: memory.Project
	Exclude  []string                  // globs of folders that are left alone
	Commands []string                  // what a slash command starts with
	Reinject Reinject                  // what goes in again after the harness forgot
	Traits   func(agent string) Traits // what is known of a harness; nil is nothing
	Alias    string                    // the client that continues a session by a new one behind a load that failed
	Events   Events                    // where what happens is written down; nil: nowhere
	Now      func() time.Time
	Log      zerolog.Logger
}

// Events are where what happens is written down; *eventlog.Log is one. Nothing here waits.
type Events interface {
	NewSession() int
	NewTurn() int
	Append(...eventlog.Event)
}

// Reinject says what goes in again after the harness forgot the conversation.
type Reinject string

const (
	ReinjectNever    Reinject = "never"
	ReinjectIdentity Reinject = "identity" // identity after a compaction, everything after a clear
	ReinjectAll      Reinject = "all"      // everything after either
)
