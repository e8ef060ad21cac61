package session

import (
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/proxy/answer"
)

// A Turn is one prompt and what was said to it. Turns follow the wire: they stand in the order in which their prompts
// leave for the harness, and words belong to the oldest one that has no response yet, behind the last response to the
// last one, for some agents say more then.
type Turn struct {
	Session *Session
	Number  int // in the file of events, once it stands there
	Key     string
	Trace   string      // the span that the client sent it in; "" for none
	Command string      // the slash command that the prompt is
	Answer  answer.Text // what the agent said and nobody has taken yet; has a lock of its own

	left     bool // its prompt is on its way
	accepted bool // the harness has taken it in, which ends no turn in version 2
	dropped  bool // nothing of it is kept

	prompt  Prompt   // what the user said, until it is written down
	heard   bool     // that is known, or was
	steered []Prompt // and what the user said later, in the turn
	notices []byte   // what the harness said of itself, as it came: the answer if there is no other
	tools   []tool
	toolAt  map[string]int
	message string // the id of the one that the words are of
	called  bool   // a tool, since it began
	lost    int    // bytes that were not kept

	stop  string
	ended bool

	listed bool // among those of which something is to be written down
}

// A Prompt is what the user says.
type Prompt interface {
	// Words reads it, which may take a while: without the passages that are private, and those.
	Words() (kept string, private []string)
	Left() int // bytes of it that were left out
	Size() int // bytes of it that are held
}

// A tool is a tool call of a turn.
type tool struct {
	correlation.ToolCall
	began   time.Time
	changed bool // since it was last written down
}

// Stops that are no harness's.
const (
	StopEnd        = "end_turn"   // a turn that came to its end, in the protocol's words
	StopError      = "error"      // its response was an error
	StopUnanswered = "unanswered" // a later prompt was answered, and this one was not
)

// BeginTurn notes a prompt that is about to leave, behind those before it. Leave says that it does.
func (c *Connection) BeginTurn(s *Session) *Turn {
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

// Obeyed makes a session lose what it was given once a turn has come to its end whose prompt was a command that makes
// the harness forget: one of the usual words, if it advertises it, or one that it is known for.
func (c *Connection) Obeyed(t *Turn) {
	if t.Command == "" || t.stop != StopEnd {
		return
	}
	advertised := c.advertised(t.Session, t.Command)
	switch {
	case advertised && slices.Contains(clearCommands, t.Command):
		c.Lose(t.Session, correlation.Cleared)
	case advertised && slices.Contains(compactCommands, t.Command),
		slices.Contains(c.Traits().CompactCommands, t.Command):
		c.Lose(t.Session, correlation.Compacted)
	}
}

// The commands that make a harness forget, as harnesses name them.
var (
	clearCommands   = []string{"clear", "new", "reset"}
	compactCommands = []string{"compact", "compress", "summarize"}
)

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

// dropTurns keeps nothing more of a session's turns.
func (c *Connection) dropTurns(s *Session) {
	for _, t := range s.unanswered {
		t.dropped, t.prompt, t.steered, t.tools = true, nil, nil, nil
	}
	if s.last != nil {
		s.last.dropped = true
	}
	s.last, s.unanswered = nil, nil
	c.words.Add(1)
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
