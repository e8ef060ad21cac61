package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// BeginTurn notes a prompt that is to leave after those before it. PromptForwarded follows.
func (c *Connection) BeginTurn(s *Session) *Turn {
	t := &Turn{Session: s}
	s.unanswered = append(s.unanswered, t)
	return t
}

// PromptForwarded notes that a turn's prompt leaves for the harness now.
func (c *Connection) PromptForwarded(t *Turn) {
	c.SettleDoubt(t.Session, false)
	t.Session.EndReplay()
	t.forwarded = true
	c.turnChanges.Add(1)
	for _, u := range t.Session.unanswered { // those behind a held prompt may have been read before it left
		if !u.forwarded {
			break
		}
		if u.promptRead {
			c.recordBegun(u)
		}
	}
}

// HarnessEnded begins the turns whose prompts are still held: the harness will not get them, but the user has said it.
func (c *Connection) HarnessEnded() {
	for _, s := range c.sessions {
		for _, t := range s.unanswered {
			if !t.forwarded {
				c.PromptForwarded(t)
			}
		}
	}
}

// recordBegun records that a turn has begun, after those before it, unless a prompt before it is still held.
func (c *Connection) recordBegun(t *Turn) {
	if t.Number != 0 || t.dropped || c.o.Events == nil {
		return
	}
	for _, before := range t.Session.unanswered {
		if before == t {
			break
		}
		if !before.forwarded {
			return
		}
		if before.Number == 0 {
			c.recordBegunTurn(before)
		}
	}
	c.recordBegunTurn(t)
}

func (c *Connection) recordBegunTurn(t *Turn) {
	s := t.Session
	c.recordOpened(s)
	if t.Key = s.Who.Key; t.Key == "" && s.opened {
		t.Key = OrNewKey("")
	}
	t.Number = c.o.Events.NewTurn()
	c.record(s, eventlog.TurnBegan{Session: s.Number, Turn: t.Number, Key: t.Key, Command: t.Command})
	c.trace(t)
	c.markDue(t)
}

// Traced notes the traceparent that the client sent with a turn's prompt.
func (c *Connection) Traced(t *Turn, parent string) {
	if t.Trace = parent; t.Number != 0 {
		c.trace(t)
	}
}

func (c *Connection) trace(t *Turn) {
	if t.Trace != "" {
		c.record(t.Session, eventlog.TraceKnown{Turn: t.Number, Parent: t.Trace})
	}
}

// Turn returns the turn that the agent's next words belong to, nil if there is none.
func (s *Session) Turn() *Turn {
	if len(s.unanswered) > 0 && s.unanswered[0].forwarded {
		return s.unanswered[0]
	}
	return s.last
}

// EndTurn ends a turn with its response, and settles the block that its prompt carried. Turns before it without a
// response end as unanswered. It returns the event that has to be in the file before the response is forwarded, nil if
// there is none; the caller appends it. id is the request's, as it came; code is that of the error, if failed.
func (c *Connection) EndTurn(req Request, id string, failed bool, stop string, code int) eventlog.Event {
	s, t := req.Session, req.Turn
	became := c.becameOf(t, failed, stop, code)
	for slices.Contains(s.unanswered, t) && s.unanswered[0] != t {
		c.closeUnanswered(s.unanswered[0])
	}
	s.unanswered = slices.DeleteFunc(s.unanswered, func(u *Turn) bool { return u == t })
	if !t.ended { // not as unanswered before
		s.last = t
	}
	if len(t.notices) > 0 && !t.Answer.Said() {
		t.Answer.Add(t.notices)
	}
	t.notices = nil
	c.turnChanges.Add(1)
	t.ended, t.stop = true, stop
	if failed {
		t.stop = StopError
	} else {
		s.Live = true // even if its load seemed to fail
		code = 0
	}
	if req.Injection != nil {
		c.settle(s, req.Injection, became)
	}
	c.CommandEnded(t)
	if s.Off || t.dropped || c.o.Events == nil {
		return nil
	}
	c.recordOpened(s)
	if c.recordBegun(t); t.Number == 0 { // answered before its prompt was forwarded
		return nil
	}
	c.markDue(t)
	c.Touch(s)
	ended := eventlog.TurnEnded{Turn: t.Number, Stop: t.stop, Code: code, Request: id, Lost: t.lost}
	if !s.opened {
		c.record(s, ended)
		return nil
	}
	s.recorded++
	return ended
}

// Thinks notes that the harness thinks about the turn under way.
func (s *Session) Thinks() {
	if t := s.Turn(); t != nil {
		t.begun = true
	}
}

// Cancel notes that the client has cancelled what is not answered yet.
func (s *Session) Cancel() {
	for _, t := range s.unanswered {
		t.cancelled = true
	}
}

// closeUnanswered ends a turn that has no response. What its prompt carried is in doubt.
func (c *Connection) closeUnanswered(t *Turn) {
	s := t.Session
	s.unanswered = slices.DeleteFunc(s.unanswered, func(u *Turn) bool { return u == t })
	s.last = t
	c.turnChanges.Add(1)
	t.ended, t.stop = true, StopUnanswered
	for _, req := range c.pending {
		if req.Turn == t && req.Injection != nil {
			c.settle(s, req.Injection, correlation.Failed)
		}
	}
	if s.Off || t.dropped {
		return
	}
	if c.recordBegun(t); t.Number == 0 {
		return
	}
	c.record(s, eventlog.TurnEnded{Turn: t.Number, Stop: t.stop, Lost: t.lost})
	c.markDue(t)
}

// Notice keeps a message chunk that is a notice of the harness's own, escaped as it came.
func (c *Connection) Notice(t *Turn, raw []byte) {
	t.notices = append(t.notices, raw[:min(len(raw), maxNotices-len(t.notices))]...)
}

// PromptRead notes the text of a turn's prompt.
func (c *Connection) PromptRead(t *Turn, prompt Prompt) {
	t.promptRead = true
	if t.dropped {
		return
	}
	t.prompt = prompt
	t.lost += prompt.Omitted()
	c.Unread += prompt.Size()
	if t.forwarded {
		c.recordBegun(t)
	}
	c.markDue(t)
	c.Touch(t.Session)
}

// Steer notes what the user says in the middle of a turn (_session/steering).
func (c *Connection) Steer(s *Session, prompt Prompt) {
	t := s.Turn()
	if t == nil || t.dropped {
		return
	}
	c.recordBegun(t)
	t.steered = append(t.steered, prompt)
	c.Unread += prompt.Size()
	c.markDue(t)
	c.Touch(s)
}

// AnswerGrew notes that there is text to take from a turn's Answer.
func (c *Connection) AnswerGrew(t *Turn) {
	if !t.dropped {
		c.recordBegun(t)
		c.markDue(t)
		c.streamed = true
	}
}

// CountLost counts bytes of a turn that could not be read.
func (c *Connection) CountLost(t *Turn, bytes int) {
	t.lost += bytes
	c.Lost += bytes
}

// ToolCall notes a tool call, or a later report of one. Fields that are empty stay as they were.
func (c *Connection) ToolCall(s *Session, call correlation.ToolCall) {
	t := s.Turn()
	if t == nil || t.dropped {
		return
	}
	t.toolCalled = true
	t.Answer.ToolCalled()
	at, known := t.toolAt[call.ID]
	now := c.o.Now()
	if !known {
		if len(t.tools) > correlation.MaxTools { // with one too many the ledger marks the turn as truncated
			return
		}
		if t.toolAt == nil {
			t.toolAt = map[string]int{}
		}
		at = len(t.tools)
		t.toolAt[call.ID] = at
		t.tools = append(t.tools, tool{ToolCall: call, began: now})
	}
	old := &t.tools[at]
	for _, field := range []struct{ old, now *string }{
		{&old.Title, &call.Title}, {&old.Kind, &call.Kind}, {&old.Status, &call.Status},
	} {
		if *field.now != "" {
			*field.old = *field.now
		}
	}
	if len(call.Locations) > 0 {
		old.Locations = call.Locations
	}
	old.Milliseconds = now.Sub(old.began).Milliseconds()
	old.changed = true
	c.recordBegun(t)
	c.markDue(t)
	c.streamed = true
}

// markDue notes that there is something of a turn to record.
func (c *Connection) markDue(t *Turn) {
	if !t.due {
		t.due = true
		c.due = append(c.due, t)
	}
}

// A Due is what is to be recorded of a turn.
type Due struct {
	Turn    *Turn
	Prompt  Prompt // nil: it is recorded, or not read yet
	Steered []Prompt
	Tools   []correlation.ToolCall
	Ended   bool
	Off     bool     // nothing of it is to be recorded
	Blocks  []string // our own texts, which its answer may repeat and must not be stored with
}

// TakeDue returns what is to be recorded now, in the order in which it came up. The caller redacts it and records it
// with RecordTurn.
func (c *Connection) TakeDue() []Due {
	due := make([]Due, 0, len(c.due))
	c.Unread = 0 // turns that have not begun hold little
	waiting := c.due[:0]
	for _, t := range c.due {
		if t.Number == 0 && !t.dropped { // it has not begun
			waiting = append(waiting, t)
			continue
		}
		t.due = false
		d := Due{
			Turn: t, Prompt: t.prompt, Steered: t.steered, Ended: t.ended, Off: t.dropped, Blocks: t.Session.Blocks(),
		}
		t.prompt, t.steered = nil, nil
		for i := range t.tools {
			if t.tools[i].changed {
				t.tools[i].changed = false
				d.Tools = append(d.Tools, t.tools[i].ToolCall)
			}
		}
		due = append(due, d)
	}
	clear(c.due[len(waiting):])
	c.due = waiting
	return due
}

// AddPrivate adds passages that no turn of the session may repeat.
func (s *Session) AddPrivate(passages ...string) { s.private = append(s.private, passages...) }

// Private returns the passages that no turn of the session may repeat.
func (s *Session) Private() []string { return slices.Clone(s.private) }

// RecordTurn records events of a turn that TakeDue returned, which the caller has redacted.
func (c *Connection) RecordTurn(t *Turn, what ...eventlog.Event) {
	if !t.dropped {
		c.record(t.Session, what...)
	}
}

// TakeStreamed reports whether text or tool calls have come since the last call.
func (c *Connection) TakeStreamed() bool {
	talking := c.streamed
	c.streamed = false
	return talking
}

// Usage records what the harness says was used, in turn t; nil: in the one under way, or the last.
func (c *Connection) Usage(s *Session, t *Turn, usage correlation.Usage) {
	if s.Off {
		return
	}
	n := 0
	if t == nil {
		t = s.Turn()
	}
	if t != nil {
		c.recordBegun(t)
		n = t.Number
	}
	c.record(s, eventlog.UsageReported{Session: s.Number, Turn: n, Usage: usage})
}
