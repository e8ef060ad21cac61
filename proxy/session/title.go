package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// A Title is a session's title as the harness has it. Before it is stored, our Blocks and the user's Private passages
// have to be taken out.
type Title struct {
	Session         *Session
	Text            string
	Blocks, Private []string
}

// SetTitle notes a session's title, as the harness has it.
func (c *Connection) SetTitle(s *Session, text string) {
	if s.Off || text == "" || text == s.title {
		return
	}
	s.title = text
	c.newTitles = append(slices.DeleteFunc(c.newTitles, func(one *Session) bool { return one == s }), s)
	c.Touch(s)
}

// TakeTitles returns the titles that were set since the last call.
func (c *Connection) TakeTitles() []Title {
	var all []Title
	for _, s := range c.newTitles {
		all = append(all, Title{s, s.title, s.Blocks(), slices.Clone(s.private)})
	}
	c.newTitles = nil
	return all
}

// RecordTitle records a title, which the caller has redacted.
func (c *Connection) RecordTitle(s *Session, text string) {
	c.record(s, eventlog.Titled{Session: s.Number, Title: text})
}
