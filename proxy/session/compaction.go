package session

import (
	"strings"
)

// maxSummary is how many bytes of a harness's own summary of a conversation are kept.
const maxSummary = 96 << 10

// begin empties the summary if it was another compaction's.
func (m *summary) begin(compaction string) {
	if m.compaction != compaction {
		*m = summary{compaction: compaction}
	}
}

func (m *summary) add(text string) {
	m.text = append(m.text, text[:min(len(text), maxSummary-len(m.text))]...)
}

// update handles a compaction_update. whole is the summary in it, which replaces what came in pieces; nil: none. text
// is the summary once the compaction is completed. Compactions in a replayed history are old ones and are passed over.
func (h *history) update(compaction, status string, whole []string) (begun, lost bool, text string) {
	h.summary.begin(compaction)
	if len(whole) > 0 {
		h.summary.text = nil
		h.summary.add(strings.Join(whole, "\n"))
	}
	if h.replay.step != replayOver {
		return false, false, ""
	}
	if status == "in_progress" && !h.summary.begun {
		h.summary.begun, begun = true, true
	}
	if status != "completed" {
		return begun, false, ""
	}
	text = string(h.summary.text)
	h.summary = summary{}
	return begun, true, text
}

// call handles a tool call that may stand for a compaction: claude reports one so to clients that do not know
// compaction updates, whether it compacts by itself or is told to (docs/facts/harnesses.md).
func (h *history) call(id string, begins, completed bool) (begun, lost bool) {
	if begins && h.tool != id {
		h.tool = id
		begun = h.replay.step == replayOver && !completed
	}
	if completed && h.tool != "" && h.tool == id {
		h.tool = ""
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
