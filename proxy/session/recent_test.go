package session

import (
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Who holds a session's blocks reads them beside the conversation, which trims the session and uses it again.
func TestTrimLeavesWhatIsHeld(t *testing.T) {
	const text = "<signet-memory>\n## Identity\nRobin rows.\n## Memories\nThe boat is blue.\n</signet-memory>"
	c, s := &Connection{}, &Session{}
	s.injections = []*Injection{{Injection: correlation.Injection{Text: text}}}
	held := s.Injections()
	for range 2 {
		if !s.trim() {
			t.Fatal("it is not trimmed")
		}
		if s.injections[0].Text != "" || held[0].Text != text || s.Injections()[0].Text != text {
			t.Errorf("trimmed: %q, held %q, again %q", s.injections[0].Text, held[0].Text, s.Injections()[0].Text)
		}
		c.recent = nil
		c.markRecent(s)
		if s.injections[0].Text != text || held[0].Text != text {
			t.Errorf("used again: %q, held %q", s.injections[0].Text, held[0].Text)
		}
	}
}
