package session

import (
	"slices"
	"strings"
	"unique"
)

// maxRecent is how many sessions of a connection, the last used, hold the texts of their blocks whole. The others hold
// them in sections that are shared (package unique): sessions of one user have most sections in common, and may be idle
// for days.
const maxRecent = 8

// markRecent makes a session the last used one, and trims those that were not used for longest.
func (c *Connection) markRecent(s *Session) {
	if n := len(c.recent); n > 0 && c.recent[n-1] == s {
		return
	}
	c.recent = append(slices.DeleteFunc(c.recent, func(one *Session) bool { return one == s }), s)
	for _, g := range s.injections {
		g.Text, g.pieces = g.blockText(), nil
	}
	many := len(c.recent) - maxRecent
	c.recent = slices.DeleteFunc(c.recent, func(one *Session) bool {
		if many <= 0 || one == s || !one.trim() {
			return false
		}
		many--
		return true
	})
}

// trim drops what a session needs only while it is in use, and reports whether it did: a session with a turn under way
// is left.
func (s *Session) trim() bool {
	if len(s.unanswered) > 0 || s.last != nil && s.last.due {
		return false
	}
	for _, g := range s.injections {
		g.split()
	}
	if s.last != nil {
		s.last.tools, s.last.toolAt = nil, nil
	}
	return true
}

// split replaces a block's text by its sections, which equal blocks share.
func (in *Injection) split() {
	if in.Text == "" {
		return
	}
	for section := range strings.SplitAfterSeq(in.Text, sectionEnd) {
		in.pieces = append(in.pieces, unique.Make(section))
	}
	in.Text = ""
}

// sectionEnd is where one section of a block ends and the next begins.
const sectionEnd = "\n## "

// blockText returns a block's text, whether it is split or not.
func (in *Injection) blockText() string {
	if len(in.pieces) == 0 {
		return in.Text
	}
	var text strings.Builder
	for _, piece := range in.pieces {
		text.WriteString(piece.Value())
	}
	return text.String()
}

// withText returns a copy of the injection with its text whole. Its own text changes when the session is trimmed.
func (in *Injection) withText() *Injection {
	own := *in
	own.Text, own.pieces = in.blockText(), nil
	return &own
}
