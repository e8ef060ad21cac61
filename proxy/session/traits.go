package session

import "github.com/Signet-AI/signet-acp-proxy/correlation"

// Traits are what is known of a harness beyond what it says itself (docs/facts/harnesses.md). The zero value is right
// for a harness that nobody knows.
type Traits struct {
	KeepsFailed     bool // whether a failed prompt stays in its history all the same
	Cancelled       Cancelled
	KeepsMessages   int      // tokens of the user's newest messages that a compaction keeps, with our block in them
	MessageIDs      bool     // its answers have a messageId; a message chunk without one is a notice
	CompactCommands []string // commands that make it compact, though it does not advertise them
	SaysSummary     bool     // it compacts in the middle of a turn, and says the summary as a message of its own
	TitleLength     int      // UTF-16 units of a first prompt that it makes its title from; 0: all
}

// Cancelled says what a harness keeps of a prompt whose turn was cancelled, with our block in it. The zero value is
// that nobody knows.
type Cancelled string

const (
	CancelledKept   Cancelled = "kept"
	CancelledBegun  Cancelled = "kept once answered" // kept once the harness has said something; before, nobody knows
	CancelledForgot Cancelled = "forgotten"
)

// became says what became of the block in a cancelled prompt. begun: the harness had said something by then.
func (k Cancelled) became(begun bool) correlation.EventName {
	switch {
	case k == CancelledKept, k == CancelledBegun && begun:
		return correlation.Answered
	case k == CancelledForgot:
		return correlation.Refused
	}
	return correlation.Cancelled
}
