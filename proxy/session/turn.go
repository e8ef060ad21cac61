package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// BeginTurn notes a prompt that is about to leave, behind those before it. Leave says that it does.
func (c *Connection) BeginTurn(s *Session) *Turn {
	c.wake(s)
	t := &Turn{Session: s}
	s.unanswered = append(s.unanswered, t)
	return t
}

// Leave notes that a turn's prompt leaves for the harness.
func (c *Connection) Leave(t *Turn) {
	c.SettleDoubt(t.Session, false)
	t.Session.EndReplay()
	t.left = true
	c.words.Add(1)
	for _, u := range t.Session.unanswered { // what came behind a held prompt has left with it
		if !u.left {
			break
		}
		if u.heard {
			c.begun(u)
		}
	}
}

// LeaveAll notes that what still waits leaves for nobody: the harness has ended. It was said all the same.
func (c *Connection) LeaveAll() {
	for _, s := range c.sessions {
		for _, t := range s.unanswered {
			if !t.left {
				c.Leave(t)
			}
		}
	}
}

// begun writes down that a turn has begun, and those before it. Behind a prompt that is held none begins before that
// leaves.
func (c *Connection) begun(t *Turn) {
	if t.Number != 0 || t.dropped || c.o.Events == nil {
		return
	}
	for _, before := range t.Session.unanswered {
		if before == t {
			break
		}
		if !before.left {
			return
		}
		if before.Number == 0 {
			c.begin(before)
		}
	}
	c.begin(t)
}

func (c *Connection) begin(t *Turn) {
	s := t.Session
	c.open(s)
	if t.Key = s.Who.Key; t.Key == "" && s.opened {
		t.Key = OrNewKey("")
	}
	t.Number = c.o.Events.NewTurn()
	c.append(s, eventlog.TurnBegan{Session: s.Number, Turn: t.Number, Key: t.Key, Command: t.Command})
	c.trace(t)
	c.list(t)
}

// Traced notes the span that the client sent a turn's prompt in.
func (c *Connection) Traced(t *Turn, parent string) {
	if t.Trace = parent; t.Number != 0 {
		c.trace(t)
	}
}

func (c *Connection) trace(t *Turn) {
	if t.Trace != "" {
		c.append(t.Session, eventlog.TraceKnown{Turn: t.Number, Parent: t.Trace})
	}
}

// Turn gives the one that what is said now belongs to, nil if there is none.
func (s *Session) Turn() *Turn {
	if len(s.unanswered) > 0 && s.unanswered[0].left {
		return s.unanswered[0]
	}
	return s.last
}

// EndTurn ends a turn with its response, and settles what its prompt carried. Turns before it that have none are
// closed: they get none, or so late that nothing waits for it. It gives the event that is to be in the file before
// the response leaves, nil if there is none. id is the request's, as it came.
func (c *Connection) EndTurn(req Request, id string, failed bool, stop string, code int) eventlog.Event {
	s, t := req.Session, req.Turn
	for slices.Contains(s.unanswered, t) && s.unanswered[0] != t {
		c.close(s.unanswered[0])
	}
	s.unanswered = slices.DeleteFunc(s.unanswered, func(u *Turn) bool { return u == t })
	if !t.ended { // it was not closed before
		s.last = t
	}
	if len(t.notices) > 0 && !t.Answer.Said() {
		t.Answer.Add(t.notices)
	}
	t.notices = nil
	c.words.Add(1)
	t.ended, t.stop = true, stop
	if failed {
		t.stop = StopError
	} else {
		s.isThere() // whatever became of its load
		code = 0
	}
	if req.Injection != nil {
		c.settle(s, req.Injection, failed, code)
	}
	c.Obeyed(t)
	if s.Off || t.dropped || c.o.Events == nil {
		return nil
	}
	c.open(s)
	if c.begun(t); t.Number == 0 { // answered before it has left
		return nil
	}
	c.list(t)
	c.Touch(s)
	ended := eventlog.TurnEnded{Turn: t.Number, Stop: t.stop, Code: code, Request: id, Lost: t.lost}
	if !s.opened {
		c.append(s, ended)
		return nil
	}
	s.told++
	return ended
}

// close ends a turn that has no response.
func (c *Connection) close(t *Turn) {
	s := t.Session
	s.unanswered = slices.DeleteFunc(s.unanswered, func(u *Turn) bool { return u == t })
	s.last = t
	c.words.Add(1)
	t.ended, t.stop = true, StopUnanswered
	for _, req := range c.pending {
		if req.Turn == t && req.Injection != nil {
			c.settle(s, req.Injection, true, 0)
		}
	}
	if s.Off || t.dropped {
		return
	}
	if c.begun(t); t.Number == 0 {
		return
	}
	c.append(s, eventlog.TurnEnded{Turn: t.Number, Stop: t.stop, Lost: t.lost})
	c.list(t)
}

// Notice keeps aside what the harness says of itself as if it were an answer.
func (c *Connection) Notice(t *Turn, raw []byte) {
	t.notices = append(t.notices, raw[:min(len(raw), maxNotices-len(t.notices))]...)
}

// Hear notes what the user says in a turn's prompt.
func (c *Connection) Hear(t *Turn, prompt Prompt) {
	t.heard = true
	if t.dropped {
		return
	}
	t.prompt = prompt
	t.lost += prompt.Left()
	c.Unread += prompt.Size()
	if t.left {
		c.begun(t)
	}
	c.list(t)
	c.Touch(t.Session)
}

// Steer notes what the user says in the middle of a turn.
func (c *Connection) Steer(s *Session, prompt Prompt) {
	t := s.Turn()
	if t == nil || t.dropped {
		return
	}
	c.begun(t)
	t.steered = append(t.steered, prompt)
	c.Unread += prompt.Size()
	c.list(t)
	c.Touch(s)
}

// Said notes that there are words to take of a turn's Answer.
func (c *Connection) Said(t *Turn) {
	if !t.dropped {
		c.begun(t)
		c.list(t)
		c.talking = true
	}
}

// Miss notes bytes of a turn that could not be read.
func (c *Connection) Miss(t *Turn, bytes int) {
	t.lost += bytes
	c.Lost += bytes
}

// Use notes a tool call or what became of it. What is empty stays as it was.
func (c *Connection) Use(s *Session, call correlation.ToolCall) {
	t := s.Turn()
	if t == nil || t.dropped {
		return
	}
	t.called = true
	t.Answer.Break()
	at, known := t.toolAt[call.ID]
	now := c.o.Now()
	if !known {
		if len(t.tools) > correlation.MaxTools { // one too many: the ledger marks the turn as cut
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
	c.begun(t)
	c.list(t)
	c.talking = true
}

// list notes that there is something of a turn to write down.
func (c *Connection) list(t *Turn) {
	if !t.listed {
		t.listed = true
		c.listed = append(c.listed, t)
	}
}

// A Due is what is to be written down of a turn, beside the conversation.
type Due struct {
	Turn    *Turn
	Prompt  Prompt // nil: it was written down
	Steered []Prompt
	Tools   []correlation.ToolCall
	Ended   bool
	Off     bool     // nothing of it is kept
	Blocks  []string // what its words must not repeat
}

// Due gives what is to be written down now, in the order in which it came up.
func (c *Connection) Due() []Due {
	due := make([]Due, 0, len(c.listed))
	c.Unread = 0 // of what has not begun there is little
	waiting := c.listed[:0]
	for _, t := range c.listed {
		if t.Number == 0 && !t.dropped { // it has not begun
			waiting = append(waiting, t)
			continue
		}
		t.listed = false
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
	clear(c.listed[len(waiting):])
	c.listed = waiting
	return due
}

// Private gives what no turn of the session may repeat; more is what is to be added to it.
func (s *Session) Private(more ...string) []string {
	s.secret = append(s.secret, more...)
	return slices.Clone(s.secret)
}

// Written writes down what Due gave, as it may be kept.
func (c *Connection) Written(t *Turn, what ...eventlog.Event) {
	if !t.dropped {
		c.append(t.Session, what...)
	}
}

// Talking reports, once, whether words or tools have come up that nobody has written down yet.
func (c *Connection) Talking() bool {
	talking := c.talking
	c.talking = false
	return talking
}

// Usage writes down what the harness says was used, in the turn that is under way or was last.
func (c *Connection) Usage(s *Session, t *Turn, usage correlation.Usage) {
	if s.Off {
		return
	}
	n := 0
	if t == nil {
		t = s.Turn()
	}
	if t != nil {
		c.begun(t)
		n = t.Number
	}
	c.append(s, eventlog.UsageReported{Session: s.Number, Turn: n, Usage: usage})
}
