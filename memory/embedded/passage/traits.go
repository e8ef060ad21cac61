package passage

import "github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"

// Traits are what questions may ask for, a bit or two each. They are stored.
type Traits uint16

// What a passage may be or have.
const (
	Asks       Traits = 1 << iota // ends in a question
	Timed                         // has a word of time
	Counts                        // has a number
	Changes                       // says that something changed
	Surely                        // and can be meant in no other sense
	firstShift = 5                // how often the speaker speaks of himself, up to 3: two bits
	nameShift  = 7                // how many names stand in it, up to 7: three bits
)

// Has reports whether one of them is there.
func (t Traits) Has(one Traits) bool { return t&one != 0 }

// First is how often the speaker speaks of himself, up to 3.
func (t Traits) First() int { return int(t>>firstShift) & 3 }

// Names is how many names stand in it, up to 7.
func (t Traits) Names() int { return int(t>>nameShift) & 7 }

// TraitsOf notes what a text may answer.
func TraitsOf(text string, read language.Text) Traits {
	t := Traits(min(read.First, 3))<<firstShift | Traits(min(read.Names, 7))<<nameShift
	changed, sure := TellsChange(text)
	for trait, on := range map[Traits]bool{Asks: read.Asks, Timed: read.Time, Counts: read.Many,
		Changes: changed, Surely: sure} {
		if on {
			t |= trait
		}
	}
	return t
}
