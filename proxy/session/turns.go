package session

import (
	"cmp"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/answer"
)

// begin adds a turn whose prompt is to leave after those before it.
func (w *turns) begin(s *Session) *Turn {
	t := &Turn{Session: s, Answer: new(answer.Text)}
	w.open = append(w.open, t)
	return t
}

// running returns the oldest turn without a response, which the harness works on; nil: there is none, or it is held.
func (w *turns) running() *Turn {
	if len(w.open) > 0 && w.open[0].step != turnWaits {
		return w.open[0]
	}
	return nil
}

// current returns the turn that the agent's next words belong to, nil if there is none.
func (w *turns) current() *Turn { return cmp.Or(w.running(), w.last) }

// before returns the turns in front of t that have no response either, accepted ones aside; none if t is not open.
func (w *turns) before(t *Turn) []*Turn {
	before := slices.Clone(w.open[:max(0, slices.Index(w.open, t))])
	return slices.DeleteFunc(before, func(u *Turn) bool { return u.step == turnAccepted })
}

// end takes a turn from those that are open. A turn that ended as unanswered before is not the last one again.
func (w *turns) end(t *Turn, stop string) {
	w.open = slices.DeleteFunc(w.open, func(u *Turn) bool { return u == t })
	if t.step != turnEnded {
		w.last = t
	}
	t.step, t.stop = turnEnded, stop
}

// call notes a tool call, or a later report of one. Fields that are empty say nothing new.
func (t *Turn) call(report correlation.ToolCall, at time.Time) {
	t.toolCalled = true
	i, known := t.toolAt[report.ID]
	if !known {
		if len(t.tools) > correlation.MaxTools { // with one too many the ledger marks the turn as truncated
			return
		}
		if t.toolAt == nil {
			t.toolAt = map[string]int{}
		}
		i = len(t.tools)
		t.toolAt[report.ID] = i
		t.tools = append(t.tools, tool{report: correlation.ToolCall{ID: report.ID}, began: at})
	}
	one := &t.tools[i]
	one.report.Merge(report)
	one.report.Milliseconds = at.Sub(one.began).Milliseconds()
	one.due = true
}

// takeTools returns what was reported of tool calls since the last time.
func (t *Turn) takeTools() (reports []correlation.ToolCall) {
	for i := range t.tools {
		if one := &t.tools[i]; one.due {
			reports = append(reports, one.report)
			one.report, one.due = correlation.ToolCall{ID: one.report.ID}, false
		}
	}
	return reports
}

// say notes the id of the message that the agent's next words belong to. It reports whether the message before was
// whole, without a tool call: an agent that answered so is done.
func (t *Turn) say(message string) (another bool) {
	if message == t.message || message == "" {
		return false
	}
	another = t.message != "" && !t.toolCalled
	t.message, t.toolCalled = message, false
	return another
}

// inputUsed estimates the context in use from the input tokens that the requests of a turn took together, as their
// mean: a turn makes at most one request more than it has tool calls. 0: their number is not known.
func (t *Turn) inputUsed(tokens int64) int64 {
	if t.dropped || len(t.tools) > correlation.MaxTools {
		return 0
	}
	return tokens / int64(len(t.tools)+1)
}
