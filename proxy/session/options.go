package session

import (
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Options of a Connection. Their functions must not wait.
type Options struct {
	Harness   string                  // the name that the harness was started by
	AgentID   string                  // the Signet agent; "" is the daemon's default
	Project   func(cwd string) string // the project of a folder; nil: memory.Project
	Exclude   []string                // globs of folders whose sessions are left alone
	Traits    Traits                  // what is known of the harness until it has named itself
	Continues string                  // the client that continues a session by a session/new after a failed load
	Hold      time.Duration           // a prompt waits no longer than this for its context
	// Messages returns what other agents have sent to the session of a key and was not inserted there yet. May be nil.
	Messages func(key string) []memory.Item
	// Delegation is the one that the sessions work for: they do not count as a person's, nor do their prompts. "":
	// none.
	Delegation string
	NewKey     func() string    // makes a Signet key; nil: correlation.NewKey
	Now        func() time.Time // nil: time.Now
	Context    context.Context  // ends with the relay: no prompt is held then
}

// Traits are what is known of a harness beyond what it says itself (docs/facts/harnesses.md). The zero value is right
// for a harness that nobody knows.
type Traits struct {
	KeepsFailed     bool // whether a failed prompt stays in its history all the same
	Cancelled       Cancelled
	KeptAfter       time.Duration // with CancelledBegun: so long after it took a prompt up it is kept; 0: never
	SaysActive      bool          // it says when it takes a prompt up; else that is when the prompt leaves
	KeepsMessages   int           // tokens of the user's newest messages that a compaction keeps, our block with them
	MessageIDs      bool          // its answers have a messageId; a message chunk without one is a notice
	CompactCommands []string      // commands that make it compact, though it does not advertise them
	SaysSummary     bool          // it compacts in the middle of a turn, and says the summary as a message of its own
	TitleLength     int           // UTF-16 units of a first prompt that it makes its title from; 0: all
	Tools           bool          // it gets the memory tools
	AsksForTools    bool          // it asks a person before each call of them, but in UnaskedModes
	UnaskedModes    []string
	// InSystem: it is to get the identity in the system prompt of session/new, if it advertises that it takes one.
	// MetaSystem: it reads _meta.systemPrompt too, not both (claude; docs/facts/harnesses.md). With others, a client
	// that sends _meta.systemPrompt gets the identity with the first prompt.
	InSystem, MetaSystem bool
}

// HintsTools reports whether blocks name the memory tool in a mode of a session; "" is not known.
func (t Traits) HintsTools(mode string) bool {
	return t.Tools && (!t.AsksForTools || slices.Contains(t.UnaskedModes, mode))
}

// Cancelled says what a harness keeps of a prompt whose turn was cancelled, with our block in it. The zero value is
// that nobody knows.
type Cancelled string

const (
	CancelledKept   Cancelled = "kept"
	CancelledBegun  Cancelled = "kept once begun" // once the harness shows that it works on it; before, nobody knows
	CancelledForgot Cancelled = "forgotten"
)

// became says what became of the block in a cancelled prompt. begun: the harness had shown that it works on it.
func (k Cancelled) became(begun bool) correlation.StepName {
	switch {
	case k == CancelledKept, k == CancelledBegun && begun:
		return correlation.Answered
	case k == CancelledForgot:
		return correlation.Refused
	}
	return correlation.Cancelled
}
