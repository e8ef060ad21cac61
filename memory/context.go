package memory

import (
	"slices"
	"strings"
	"time"
)

// Values of Context.Source.
const (
	FromDaemon   = "daemon"
	FromEmbedded = "embedded"
)

// A Context is what a source gave. It is stored as JSON for the next process, so field names are a promise.
type Context struct {
	Source   string `json:"source"`             // FromDaemon or FromEmbedded
	Version  string `json:"version,omitempty"`  // the daemon's
	Identity string `json:"identity,omitempty"` // files that the user wrote
	// ToolNotes is what a daemon says about its own tools; only harnesses that may use these are told.
	ToolNotes string        `json:"standing,omitempty"`
	Notes     string        `json:"notes,omitempty"`   // recalled text that is not itemised; untrusted
	Mixed     string        `json:"mixed,omitempty"`   // an older daemon's inject: identity and memories in one
	Items     []Item        `json:"items,omitempty"`   // recalled notes, best first; untrusted
	Profile   []Item        `json:"profile,omitempty"` // what the person has stated to last, or pinned
	Where     []Place       `json:"where,omitempty"`   // files that work on the prompt may touch, best first
	More      string        `json:"more,omitempty"`    // what else there is to search for
	Fetched   time.Time     `json:"fetched,omitzero"`
	Took      time.Duration `json:"took,omitempty"` // nanoseconds
	// KeySpent: the daemon's start of this key is in doubt (ErrKeySpent), and this context came from elsewhere.
	KeySpent bool     `json:"keySpent,omitempty"`
	Warnings []string `json:"warnings,omitempty"` // the daemon's, for people
	// CutOff is how long a search took that ran out of time, and left something out; 0: it did not.
	CutOff time.Duration `json:"-"`
	// Continued is the brief of the conversation that this session continues. It is told whatever the source.
	Continued string `json:"-"`
	// Owned: another integration speaks for the session (ErrOwned). Nothing is told then, whatever was fetched before.
	Owned bool `json:"-"`
}

// An Item is one recalled note.
type Item struct {
	ID      string    `json:"id,omitempty"`
	Text    string    `json:"text"`
	Project string    `json:"project,omitempty"` // a path; its last element is shown
	About   string    `json:"about,omitempty"`   // stands in place of the date, where that does not say enough
	Origin  string    `json:"origin,omitempty"`  // who said it or where it was read: "user", "assistant", "import"
	Who     Who       `json:"from,omitempty"`    // how it came, where that is known
	Date    time.Time `json:"date,omitzero"`
	Score   float64   `json:"score,omitempty"` // comparable within one Context only; higher is better
}

// WithoutIdentity returns the memories alone, for a session that has had its identity from the local files. Mixed goes
// too: it holds those same files, and the memories in it are also Items.
func (c Context) WithoutIdentity() Context {
	c.Identity, c.ToolNotes, c.Mixed = "", "", ""
	return c
}

// Empty reports whether there is nothing to say.
func (c Context) Empty() bool {
	for _, it := range slices.Concat(c.Items, c.Profile) {
		if !blank(it.Text) {
			return false
		}
	}
	return len(c.Where) == 0 && blank(c.Identity) && blank(c.Notes) && blank(c.Mixed) && blank(c.Continued)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
