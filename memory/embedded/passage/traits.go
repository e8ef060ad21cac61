package passage

import "github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"

// Traits say which questions a passage may answer. They are stored in the database, so the bits do not change.
type Traits uint16

// Bits of Traits.
const (
	Asks             Traits = 1 << iota // ends in a question
	Timed                               // has a word about a time
	Counts                              // has a number
	Changes                             // says that something changed
	SurelyChanges                       // says so, and can mean nothing else
	firstPersonShift = 5                // two bits from here: FirstPerson
	nameShift        = 7                // three bits from here: Names
)

// Bits of what a passage's place in its turn says, and of the user's words.
const (
	Narrates Traits = 1 << (iota + 10) // said before a tool was called
	Plans                              // the same, at some length
	Works                              // of a turn in which work was done: tools were called
	Directs                            // the user says how things are to be done
)

// Has reports whether t has one trait, or one of several.
func (t Traits) Has(one Traits) bool { return t&one != 0 }

// FirstPerson is how many words speak of the speaker, up to 3.
func (t Traits) FirstPerson() int { return int(t>>firstPersonShift) & 3 }

// Names is how many names a passage has, up to 7.
func (t Traits) Names() int { return int(t>>nameShift) & 7 }

// DirectsIn returns Directs for a text in which a user says how things are to be done.
func DirectsIn(text string) Traits {
	if directives.In(text) {
		return Directs
	}
	return 0
}

// TraitsOf returns the traits of a text; read is language.Read of it.
func TraitsOf(text string, read language.Text) Traits {
	t := Traits(min(read.FirstPerson, 3))<<firstPersonShift | Traits(min(read.Names, 7))<<nameShift
	changed, sure := TellsChange(text)
	for trait, on := range map[Traits]bool{Asks: read.Asks, Timed: read.Time, Counts: read.Many,
		Changes: changed, SurelyChanges: sure} {
		if on {
			t |= trait
		}
	}
	return t
}
