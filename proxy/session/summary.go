package session

import (
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// begin empties the summary if it was another compaction's.
func (m *summary) begin(compaction string) {
	if m.compaction != compaction {
		*m = summary{compaction: compaction}
	}
}

func (m *summary) add(text string) {
	m.text = append(m.text, text[:min(len(text), maxSummary-len(m.text))]...)
}

// SummaryChunk adds a piece to the summary of a compaction.
func (c *Connection) SummaryChunk(s *Session, compaction, piece string) {
	s.summary.begin(compaction)
	s.summary.add(piece)
}

// CompactionUpdate handles a compaction_update. whole is the summary in it, which replaces what came in pieces; nil:
// none. Once the compaction is completed the summary is left for delivery, and the session has lost its context.
// Compactions in a replayed history are old ones and are passed over.
func (c *Connection) CompactionUpdate(s *Session, compaction, status string, whole []string) {
	s.summary.begin(compaction)
	if len(whole) > 0 {
		s.summary.text = nil
		s.summary.add(strings.Join(whole, "\n"))
	}
	if s.replay.open {
		return
	}
	if status == "in_progress" && !s.summary.begun {
		s.summary.begun = true
		c.compactionBegan(s)
	}
	if status != "completed" {
		return
	}
	text := string(s.summary.text)
	s.summary = summary{}
	if !s.Off && strings.TrimSpace(text) != "" {
		c.summaries = append(c.summaries, Summary{s, text, s.Blocks(), slices.Clone(s.private)})
		c.Touch(s)
	}
	c.ContextLost(s, correlation.Compacted)
}

// CompactTool handles a tool call that stands for a compaction: claude reports one so to clients that do not know
// compaction updates, whether it compacts by itself or is told to (docs/facts/harnesses.md).
func (c *Connection) CompactTool(s *Session, call string, begins, completed bool) {
	if begins && s.compacts != call {
		s.compacts = call
		if !s.replay.open && !completed {
			c.compactionBegan(s)
		}
	}
	if completed && s.compacts != "" && s.compacts == call {
		s.compacts = ""
		if !s.replay.open {
			c.ContextLost(s, correlation.Compacted)
		}
	}
}

// MessageBegan notes the id of the message that the agent's next words belong to. An agent that answered without
// calling a tool is done. One whose traits are SaysSummary, and which then begins another message in the same turn, has
// compacted the conversation: the message before was its summary.
func (c *Connection) MessageBegan(t *Turn, message string) {
	if message == t.messageID || message == "" {
		return
	}
	if t.messageID != "" && !t.toolCalled && c.Traits().SaysSummary {
		c.ContextLost(t.Session, correlation.Compacted)
	}
	t.messageID, t.toolCalled = message, false
}

// compactionBegan records that the harness has begun to compact a conversation.
func (c *Connection) compactionBegan(s *Session) {
	if !s.Off {
		c.record(s, eventlog.Compacting{Session: s.Number})
	}
}

// SetContextUsed notes how many tokens of its context window a session uses. A fall to less than half is a compaction
// that the harness did not report.
func (c *Connection) SetContextUsed(s *Session, tokens int64) {
	before := s.contextUsed
	s.contextUsed = tokens
	if before >= leastUsed && tokens < before/2 && !s.replay.open {
		c.ContextLost(s, correlation.Compacted)
	}
}

// TurnUsed notes how many input tokens the requests of a turn took together, from a harness that reports no more
// (gemini). The context is estimated as their mean: a turn makes at most one request more than it has tool calls.
func (c *Connection) TurnUsed(t *Turn, tokens int64) {
	if tokens == 0 { // a command
		return
	}
	c.SetContextUsed(t.Session, tokens)
	t.Session.contextUsed = tokens / int64(len(t.tools)+1)
	if t.dropped || len(t.tools) > correlation.MaxTools { // the number of calls is not known
		t.Session.contextUsed = 0
	}
}

// leastUsed is how many tokens must have been in use for a fall to mean a compaction. An agent's own instructions are
// more.
const leastUsed = 4000

// TakeSummaries returns the summaries that came since the last call.
func (c *Connection) TakeSummaries() []Summary {
	all := c.summaries
	c.summaries = nil
	return all
}

// RecordSummary records a summary, which the caller has redacted.
func (c *Connection) RecordSummary(s *Session, text string) {
	c.record(s, eventlog.Summarised{Session: s.Number, Text: text})
}
