package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// A Title is what a harness calls a session, as it came, with what must not be in it.
type Title struct {
	Session         *Session
	Text            string
	Blocks, Private []string
}

// Title takes in what the harness calls a session from now on.
func (c *Connection) Title(s *Session, text string) {
	if s.Off || text == "" || text == s.title {
		return
	}
	s.title = text
	c.titled = append(slices.DeleteFunc(c.titled, func(one *Session) bool { return one == s }), s)
	c.Touch(s)
}

// Titles gives those that came since it was last called.
func (c *Connection) Titles() []Title {
	var all []Title
	for _, s := range c.titled {
		all = append(all, Title{s, s.title, s.Blocks(), slices.Clone(s.secret)})
	}
	c.titled = nil
	return all
}

// Titled writes down a title, as it may be kept.
func (c *Connection) Titled(s *Session, text string) {
	c.append(s, eventlog.Titled{Session: s.Number, Title: text})
}
