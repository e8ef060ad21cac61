package session

import (
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/answer"
)

// Turns follow the wire: they are in the order in which their prompts leave for the harness. What the agent says
// belongs to the oldest turn without a response, or to the last turn if all have one: some agents say more after it.
type turns struct {
	open []*Turn // whose prompts have no response; the first may still be held
	last *Turn   // the last one that was answered
}

// A Turn is one prompt and its answer.
type Turn struct {
	Session *Session
	Number  int          // in the file of events; 0: it has not begun there
	Answer  *answer.Text // what the agent said and is not recorded: the owner's, and nothing here looks at it

	command string // the slash command that the prompt is; "" for none
	trace   string // the client's traceparent; "" for none

	forwarded bool       // its prompt has left, or is leaving
	begun     bool       // the harness has thought or said something
	cancelled bool       // the client has asked for its end
	accepted  bool       // version 2: the harness has accepted the prompt; the turn goes on
	carries   *Injection // what the accepted prompt carries; nil: none
	dropped   bool       // nothing of it is recorded
	ended     bool
	due       bool // there is something of it to record

	prompt     Prompt   // nil before it is read, and once it is recorded
	promptRead bool     // prompt was set
	steered    []Prompt // what the user said later in the turn
	notices    []byte   // the harness's notices, escaped as they came: the answer if there is no other
	tools      []tool
	toolAt     map[string]int // index in tools by the call's id
	message    string         // id of the message that the agent is saying
	toolCalled bool           // since that message began
	lost       int            // bytes that could not be kept
	stop       string         // ACP's stopReason, or one of the Stop constants
}

// A Prompt is the text of a prompt, or of a steering message, which is read when it is recorded.
type Prompt interface {
	// Words decodes the text, which may take a while. It returns the text without its private passages, and these.
	Words() (kept string, private []string)
	Omitted() int // bytes that were not kept, for they were too many
	Size() int    // bytes that it holds in memory
}

// A tool is a tool call of a turn.
type tool struct {
	report correlation.ToolCall // what was reported since it was last recorded
	began  time.Time
	due    bool // report is to be recorded
}

// How a turn ended, where no stopReason says it.
const (
	StopEnd        = "end_turn"   // ACP's own word for a turn that came to its end
	StopCancelled  = "cancelled"  // likewise, for one that the client has cancelled
	StopError      = "error"      // its response was an error
	StopUnanswered = "unanswered" // a later prompt was answered, and this one was not
)

// begin adds a turn whose prompt is to leave after those before it.
func (w *turns) begin(s *Session) *Turn {
	t := &Turn{Session: s, Answer: new(answer.Text)}
	w.open = append(w.open, t)
	return t
}

// current returns the turn that the agent's next words belong to, nil if there is none.
func (w *turns) current() *Turn {
	if len(w.open) > 0 && w.open[0].forwarded {
		return w.open[0]
	}
	return w.last
}

// before returns the turns in front of t that have no response either, accepted ones aside; none if t is not open.
func (w *turns) before(t *Turn) []*Turn {
	before := slices.Clone(w.open[:max(0, slices.Index(w.open, t))])
	return slices.DeleteFunc(before, func(u *Turn) bool { return u.accepted })
}

// upTo returns the turns that have left before t, and then t unless one in front of it is still held.
func (w *turns) upTo(t *Turn) []*Turn {
	for i, u := range w.open {
		if u == t {
			return w.open[:i+1]
		}
		if !u.forwarded {
			return w.open[:i]
		}
	}
	return append(slices.Clone(w.open), t)
}

// end takes a turn from those that are open. A turn that ended as unanswered before is not the last one again.
func (w *turns) end(t *Turn, stop string) {
	w.open = slices.DeleteFunc(w.open, func(u *Turn) bool { return u == t })
	if !t.ended {
		w.last = t
	}
	t.ended, t.stop = true, stop
}

// drop forgets all turns: nothing of them is recorded.
func (w *turns) drop() {
	for _, t := range w.open {
		t.dropped, t.prompt, t.steered, t.tools = true, nil, nil, nil
	}
	if w.last != nil {
		w.last.dropped = true
	}
	w.last, w.open = nil, nil
}

// accepted returns the turns that a version 2 harness has accepted.
func (w *turns) accepted() (all []*Turn) {
	for _, t := range w.open {
		if t.accepted {
			all = append(all, t)
		}
	}
	return all
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
	for _, field := range []struct{ to, from *string }{
		{&one.report.Title, &report.Title}, {&one.report.Kind, &report.Kind}, {&one.report.Status, &report.Status},
	} {
		if *field.from != "" {
			*field.to = *field.from
		}
	}
	if len(report.Locations) > 0 {
		one.report.Locations = report.Locations
	}
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
