package memory

import "cmp"

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
	return w == Typed || w == Pasted || w == Quoted || w == File || w == Pin
}

// saidOf is what a block says of it, "" where that goes without saying, and what a person is told.
var saidOf = map[Who]struct{ told, people string }{
	Typed:    {"", "you"},
	Pin:      {"", "you (pinned)"},
	Pasted:   {"pasted by the user", "you (pasted)"},
	Quoted:   {"quoted by the user", "you (quoted)"},
	File:     {"from a file", "a file"},
	Agent:    {"", "an agent"},
	Tool:     {"an agent noted", "an agent"},
	Imported: {"imported", "an import"},
	Child:    {"a delegated agent noted", "a delegated agent"},
}

// ForPeople says it to the person.
func (w Who) ForPeople() string { return cmp.Or(saidOf[w].people, string(w)) }
