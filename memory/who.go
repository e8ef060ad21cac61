package memory

// Who says how a text came to be remembered, and so how far it is believed. We decide it; nothing that is remembered
// can say it of itself.
type Who string

// The values of Who.
const (
	Typed    Who = "typed"    // by a person, in their own words
	Pasted   Who = "pasted"   // by a person, from elsewhere
	Quoted   Who = "quoted"   // by a person: > …
	File     Who = "file"     // a file that a person attached or mentioned
	Agent    Who = "agent"    // what an agent said, or noted by a command
	Tool     Who = "tool"     // what an agent noted by a memory tool
	Imported Who = "imported" // from a file of memories
	Child    Who = "child"    // what an agent said that works for another
	Daemon   Who = "daemon"   // the Signet daemon's
	Pin      Who = "pin"      // pinned by a person
)

// Whos are all values, in the order in which people are shown them.
var Whos = []Who{Typed, Pin, Pasted, Quoted, File, Agent, Tool, Imported, Child, Daemon}

// ByPerson reports whether a person brought it into a conversation, in whatever way.
func (w Who) ByPerson() bool {
	switch w {
	case Typed, Pasted, Quoted, File, Pin:
		return true
	}
	return false
}

// told is what a block says of it; "" where that goes without saying.
func (w Who) told() string {
	switch w {
	case Pasted:
		return "pasted by the user"
	case Quoted:
		return "quoted by the user"
	case File:
		return "from a file"
	case Tool:
		return "an agent noted"
	case Imported:
		return "imported"
	case Child:
		return "a delegated agent noted"
	}
	return ""
}

// ForPeople says it to the person.
func (w Who) ForPeople() string {
	switch w {
	case Typed:
		return "you"
	case Pin:
		return "you (pinned)"
	case Pasted:
		return "you (pasted)"
	case Quoted:
		return "you (quoted)"
	case File:
		return "a file"
	case Agent, Tool:
		return "an agent"
	case Imported:
		return "an import"
	case Child:
		return "a delegated agent"
	}
	return string(w)
}
