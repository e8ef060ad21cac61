package session

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// of makes it the summary of a compaction, empty if it was another's.
func (m *summary) of(compaction string) {
	if m.compaction != compaction {
		*m = summary{compaction: compaction}
	}
}

func (m *summary) add(text string) {
	m.text = append(m.text, text[:min(len(text), maxSummary-len(m.text))]...)
}

// Summarise takes in a piece of the summary of a compaction.
func (c *Connection) Summarise(s *Session, compaction, piece string) {
	s.summary.of(compaction)
	s.summary.add(piece)
}

// Compacting takes in how a compaction stands. whole is its summary, which replaces what came in pieces; nil if there
// was none. Once it is completed the summary is left for delivery, and the session has lost what it was given. A
// harness that shows its history tells of old compactions too: these are none.
func (c *Connection) Compacting(s *Session, compaction, status string, whole []string) {
	s.summary.of(compaction)
	if len(whole) > 0 {
		s.summary.text = nil
		s.summary.add(strings.Join(whole, "\n"))
	}
	if s.replay.open {
		return
	}
	if status == "in_progress" && !s.summary.begun {
		s.summary.begun = true
		c.compacting(s)
	}
	if status != "completed" {
		return
	}
	text := string(s.summary.text)
	s.summary = summary{}
	if !s.Off && strings.TrimSpace(text) != "" {
		c.summaries = append(c.summaries, Summary{s, text, s.Blocks(), slices.Clone(s.secret)})
		c.Touch(s)
	}
	c.Lose(s, correlation.Compacted)
}

// CompactTool takes in how a tool call stands that is no tool's: claude tells clients that do not know of compactions
// by one, whether it compacts by itself or not (docs/facts/harnesses.md).
func (c *Connection) CompactTool(s *Session, call string, begins, completed bool) {
	if begins && s.compacts != call {
		s.compacts = call
		if !s.replay.open && !completed {
			c.compacting(s)
		}
	}
	if completed && s.compacts != "" && s.compacts == call {
		s.compacts = ""
		if !s.replay.open {
			c.Lose(s, correlation.Compacted)
		}
	}
}

// Speaks notes whose words a turn's next ones are, by the id of their message. An agent that has answered and called no
// tool is done; one that goes on with another message in the same turn has answered itself, for it ran out of room: its
// summary stands in the turn.
func (c *Connection) Speaks(t *Turn, message string) {
	if message == t.message || message == "" {
		return
	}
	if t.message != "" && !t.called && c.Traits().SaysSummary {
		c.Lose(t.Session, correlation.Compacted)
	}
	t.message, t.called = message, false
}

// compacting notes that the harness has begun to sum up a conversation.
func (c *Connection) compacting(s *Session) {
	if !s.Off {
		c.append(s, eventlog.Compacting{Session: s.Number})
	}
}

// Uses takes in how many tokens of its window a session uses. A harness that tells of no compaction shows it so: less
// than half of what was used before.
func (c *Connection) Uses(s *Session, tokens int64) {
	before := s.used
	s.used = tokens
	if before >= leastUsed && tokens < before/2 && !s.replay.open {
		c.Lose(s, correlation.Compacted)
	}
}

// Took takes in how many tokens the requests of a turn took together, from a harness that says no more (gemini). The
// session used at least the mean of them: there was a request more than tool calls, at most.
func (c *Connection) Took(t *Turn, tokens int64) {
	if tokens == 0 { // a command
		return
	}
	c.Uses(t.Session, tokens)
	t.Session.used = tokens / int64(len(t.tools)+1)
	if t.dropped || len(t.tools) > correlation.MaxTools { // who knows how many calls there were
		t.Session.used = 0
	}
}

// leastUsed is how many tokens must have been in use for a fall to mean something: an agent's own instructions are
// more.
const leastUsed = 4000

// Summaries gives those that came since it was last called.
func (c *Connection) Summaries() []Summary {
	all := c.summaries
	c.summaries = nil
	return all
}

// Summarised writes down a summary, as it may be kept.
func (c *Connection) Summarised(s *Session, text string) {
	c.append(s, eventlog.Summarised{Session: s.Number, Text: text})
}
