package session

import (
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Options of a Connection. Their functions must not wait.
type Options struct {
	Harness   string                    // the name that the harness was started by
	AgentID   string                    // the Signet agent; "" is the daemon's default
	Project   func(cwd string) string   // the project of a folder; nil: memory.Project
	Exclude   []string                  // globs of folders whose sessions are left alone
	Commands  []string                  // prefixes of slash commands
	Reinject  Reinject                  // what goes in again after a compaction or a clear
	Traits    func(agent string) Traits // what is known of a harness by its agentInfo.name; nil: nothing
	Alias     string                    // the client that continues a session by a session/new after a failed load
	Hold      time.Duration             // a prompt waits no longer than this for its context
	Claim     time.Duration             // and within that no longer than this for the database
	PerPrompt bool                      // later prompts are searched for, too
	// Messages returns what other agents have sent to the session of a key and was not inserted there yet. May be nil.
	Messages func(key string) []memory.Item
	// Delegation is the one that the sessions work for: no prompt is a person's. "": none.
	Delegation string
	NewKey     func() string // makes a Signet key; nil: correlation.NewKey
}

// Reinject says what goes in again after the harness has compacted or cleared the conversation.
type Reinject string

const (
	ReinjectNever    Reinject = "never"
	ReinjectIdentity Reinject = "identity" // identity after a compaction, everything after a clear
	ReinjectAll      Reinject = "all"      // everything after either
)
