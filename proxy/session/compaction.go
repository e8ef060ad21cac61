package session

import "strings"

// maxSummary is how many bytes of a harness's own summary of a conversation are kept.
const maxSummary = 96 << 10

// begin forgets another compaction than this.
func (m *compaction) begin(id string) {
	if m.id != id {
		*m = compaction{id: id}
	}
}

func (m *compaction) add(summary string) {
	m.text = append(m.text, summary[:min(len(summary), maxSummary-len(m.text))]...)
}

// update handles a compaction_update. whole is the summary in it, which replaces what came in pieces; nil: none. text
// is the summary once the compaction is completed. begun and lost say what has just become known: that it has begun,
// and that the harness has lost the conversation. Compactions in a replayed history are old ones and are passed over.
func (h *history) update(id, status string, whole []string) (begun, lost bool, text string) {
	m := &h.compaction
	m.begin(id)
	if len(whole) > 0 {
		m.text = nil
		m.add(strings.Join(whole, "\n"))
	}
	if h.replay.step != replayOver {
		return false, false, ""
	}
	if status == "in_progress" && !m.begun {
		m.begun, begun = true, true
	}
	if status != "completed" {
		return begun, false, ""
	}
	text = string(m.text)
	*m = compaction{}
	return false, true, text
}

// call handles a tool call that may stand for a compaction: claude reports one so to clients that do not know
// compaction updates, whether it compacts by itself or is told to (docs/facts/harnesses.md).
func (h *history) call(id string, begins, completed bool) (begun, lost bool) {
	m := &h.compaction
	if begins && m.id != id {
		m.begin(id)
		begun = h.replay.step == replayOver && !completed
	}
	if completed && m.id != "" && m.id == id {
		*m = compaction{}
		lost = h.replay.step == replayOver
	}
	return begun, lost
}

// minUsed is how many tokens must have been in use for a fall to mean a compaction. An agent's own instructions are
// more.
const minUsed = 4000

// use notes how many tokens of its context window a session uses. A fall to less than half is a compaction that the
// harness did not report.
func (h *history) use(tokens int64) (lost bool) {
	before := h.used
	h.used = tokens
	return before >= minUsed && tokens < before/2 && h.replay.step == replayOver
}
