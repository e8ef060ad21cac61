package session

// Traits are what is known of a harness beyond what it says itself (docs/facts/harnesses.md). The zero value is right
// for one that nobody knows.
type Traits struct {
	KeepsFailed     bool     // a prompt that failed is in its history all the same
	KeepsMessages   int      // tokens of the user's newest messages that summing up leaves alone, our block in them too
	MessageIDs      bool     // its answers have a messageId: a message chunk without one is a notice
	CompactCommands []string // that make it sum the conversation up, beside those that it advertises
	SaysSummary     bool     // it sums the conversation up in a turn, says the summary as an answer, and goes on
	TitleLength     int      // UTF-16 units of a first prompt that it makes a title of; 0: all
}
