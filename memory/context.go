package memory

import (
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
	// a daemon's own words about its tools; for harnesses that may use them
	Standing string        `json:"standing,omitempty"`
	Notes    string        `json:"notes,omitempty"` // recalled text that is not itemised; untrusted
	Mixed    string        `json:"mixed,omitempty"` // an older daemon's inject: identity and memories in one
	Items    []Item        `json:"items,omitempty"` // recalled notes, best first; untrusted
	Fetched  time.Time     `json:"fetched,omitzero"`
	Took     time.Duration `json:"took,omitempty"` // nanoseconds
	// the daemon's start of this key is in doubt (ErrKeySpent) and this came from elsewhere
	KeySpent bool     `json:"keySpent,omitempty"`
	Warnings []string `json:"warnings,omitempty"` // the daemon's, for people
	// how the conversation that this session goes on from ended (Earlier); said whatever the source
	Earlier string `json:"-"`
	// Owned: the session is another's (ErrOwned), so that nothing is told, whatever was fetched before.
	Owned bool `json:"-"`
}

// An Item is one recalled note.
type Item struct {
	ID      string    `json:"id,omitempty"`
	Text    string    `json:"text"`
	Project string    `json:"project,omitempty"` // a path; its last element is shown
	Origin  string    `json:"origin,omitempty"`  // who said it or where it was read: "user", "assistant", "import"
	Date    time.Time `json:"date,omitzero"`
	Score   float64   `json:"score,omitempty"` // comparable within one Context only; higher is better
}

// WithoutIdentity is what is told to a session that has been told who it is from the local files: memories alone. What
// an older daemon gives in one goes too, for it is those files; its memories are items.
func (c Context) WithoutIdentity() Context {
	c.Identity, c.Standing, c.Mixed = "", "", ""
	return c
}

// After is a context that also tells how the conversation that the session goes on from ended, as Earlier says it.
func (c Context) After(earlier string) Context {
	c.Earlier = earlier
	return c
}

// Empty reports whether there is nothing to say.
func (c Context) Empty() bool {
	for _, it := range c.Items {
		if !blank(it.Text) {
			return false
		}
	}
	return blank(c.Identity) && blank(c.Notes) && blank(c.Mixed) && blank(c.Earlier)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
