package session

import (
	"slices"
	"strings"
	"unique"
)

// maxAwake is how many sessions of a connection hold what they were given as it went in: those that were opened or
// spoken to last. The others hold it in pieces, of which equal ones are there once: what their user is like stands in
// all of them, and a session may be idle for days.
const maxAwake = 8

// wake makes a session the one that was spoken to last, and lets those rest that were not for longest.
func (c *Connection) wake(s *Session) {
	if n := len(c.awake); n > 0 && c.awake[n-1] == s {
		return
	}
	c.awake = append(slices.DeleteFunc(c.awake, func(one *Session) bool { return one == s }), s)
	for _, g := range s.given {
		g.Text, g.pieces = g.words(), nil
	}
	many := len(c.awake) - maxAwake
	c.awake = slices.DeleteFunc(c.awake, func(one *Session) bool {
		if many <= 0 || one == s || !one.rests() {
			return false
		}
		many--
		return true
	})
}

// rests gives up what a session needs only while it is spoken to, and reports whether it is not.
func (s *Session) rests() bool {
	if len(s.unanswered) > 0 || s.last != nil && s.last.listed {
		return false
	}
	for _, g := range s.given {
		g.rest()
	}
	if s.last != nil {
		s.last.tools, s.last.toolAt = nil, nil
	}
	return true
}

// rest takes a block's text to pieces: its sections.
func (in *Injection) rest() {
	if in.Text == "" {
		return
	}
	for section := range strings.SplitAfterSeq(in.Text, sectionEnd) {
		in.pieces = append(in.pieces, unique.Make(section))
	}
	in.Text = ""
}

// sectionEnd stands between the sections of a block.
const sectionEnd = "\n## "

// words gives a block's text.
func (in *Injection) words() string {
	if len(in.pieces) == 0 {
		return in.Text
	}
	var text strings.Builder
	for _, piece := range in.pieces {
		text.WriteString(piece.Value())
	}
	return text.String()
}

// whole gives what was recorded of a block, with its text.
func (in *Injection) whole() *Injection {
	if len(in.pieces) == 0 {
		return in
	}
	own := *in
	own.Text, own.pieces = in.words(), nil
	return &own
}
