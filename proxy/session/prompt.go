package session

import "github.com/Signet-AI/signet-acp-proxy/correlation"

// PromptJudged: a prompt begins. It is held if it may get a block; any other begins its turn and is looked at.
type PromptJudged struct {
	ID      []byte // the session's
	Key     string // of the request
	TooLong bool   // to be held
}

func (p PromptJudged) on(c *Connection) {
	s := c.sessions[string(p.ID)]
	switch {
	case s == nil || s.off():
	case !p.TooLong && c.mustHold(s):
		c.do.Frame = Hold
	default:
		c.do.Frame, c.do.Session = Look, s
		c.do.Turn = c.leave(s, p.Key)
	}
}

// leave begins the turn of a prompt that is forwarded as it is.
func (c *Connection) leave(s *Session, key string) *Turn {
	t := s.turns.begin(s)
	c.forwarded(t)
	c.await(key, Request{Session: s, Turn: t})
	return t
}

// PromptHeld: a prompt that was held is whole. It goes on waiting (Hold), with a turn in its place among those of the
// prompts around it; a command, an empty prompt and one of a session that is off are forwarded.
type PromptHeld struct {
	ID    []byte
	Key   string
	Bytes int // of its frame
	Said  Said
	First string // its first text, which may be a command
	Words string // all of its texts
	Blank bool   // nothing can come in front of it
}

func (p PromptHeld) on(c *Connection) {
	s := c.sessions[string(p.ID)]
	if s != nil && p.Said.Off {
		c.switchOff(s)
	}
	if s == nil || s.off() {
		return
	}
	c.do.Session = s
	p.Said.command = c.slashCommand(s, p.First)
	if p.Said.command != "" || p.Blank {
		c.said(c.leave(s, p.Key), p.Said)
		return
	}
	h := &Held{turn: s.turns.begin(s), key: p.Key, bytes: p.Bytes, read: c.at}
	c.said(h.turn, p.Said)
	c.do.Frame, c.do.Held = Hold, h
	c.hold(h, p.Words)
}

// PromptLooked: a prompt that was forwarded has been read.
type PromptLooked struct {
	Turn  *Turn
	Said  Said
	First string // its first text, which may be a command
	Bytes int    // of its frame
}

func (p PromptLooked) on(c *Connection) {
	s := p.Turn.Session
	s.history.since += p.Bytes
	if p.Said.Off {
		c.switchOff(s)
		return
	}
	p.Said.command = c.slashCommand(s, p.First)
	c.said(p.Turn, p.Said)
	c.commandEnded(p.Turn) // a quick harness may have answered by now
}

// Said is what a prompt says.
type Said struct {
	Prompt Prompt
	Trace  string // the client's traceparent; "" for none
	Off    bool   // its _meta switches memory off

	command string
}

func (c *Connection) said(t *Turn, said Said) {
	if said.command != "" {
		t.command = said.command
	}
	if said.Trace != "" {
		if t.trace = said.Trace; t.Number != 0 {
			c.recordTrace(t)
		}
	}
	t.promptRead = true
	c.do.News = t.step == turnEnded // its response waits for that
	if t.dropped {
		return
	}
	t.prompt = said.Prompt
	t.lost += said.Prompt.Omitted()
	c.waiting.unread += said.Prompt.Size()
	if t.step != turnWaits {
		c.recordBegun(t)
	}
	c.markDue(t)
	c.touch(t.Session)
}

// SteeringJudged: words of the user in the middle of a turn begin.
type SteeringJudged struct{ ID []byte }

func (p SteeringJudged) on(c *Connection) {
	if s := c.sessions[string(p.ID)]; s != nil && !s.off() {
		c.do.Frame, c.do.Session = Look, s
	}
}

// Steered: what the user says in the middle of a turn has been read.
type Steered struct {
	Session *Session
	Prompt  Prompt
	Bytes   int // of its frame
}

func (p Steered) on(c *Connection) {
	s := p.Session
	s.history.since += p.Bytes
	t := s.turns.current()
	if t == nil || t.dropped || p.Prompt.Size() == 0 {
		return
	}
	c.recordBegun(t)
	t.steered = append(t.steered, p.Prompt)
	c.waiting.unread += p.Prompt.Size()
	c.markDue(t)
	c.touch(s)
}

// HarnessEnded: the turns whose prompts are still held begin: the harness will not get them, but the user has said it.
type HarnessEnded struct{}

func (HarnessEnded) on(c *Connection) {
	for _, s := range c.sessions {
		for _, t := range s.turns.open {
			if t.step == turnWaits {
				c.forwarded(t)
			}
		}
	}
	c.do.Lost = c.waiting.lost
}

// PromptAnswered: the response to a prompt, which ends its turn and settles the block that the prompt carried. In
// version 2 of the protocol a result says only that the harness has accepted the prompt: the turn goes on, and
// the block is in flight, until the harness says that it is idle (docs/facts/acp.md, "Version 2").
type PromptAnswered struct {
	Request  Request
	ID       string // the request's, as it came
	Failed   bool
	Code     int // of its error
	Stop     string
	Accepted bool // version 2
	Usage    []Usage
}

func (p PromptAnswered) on(c *Connection) {
	s, t := p.Request.Session, p.Request.Turn
	if p.Accepted && !p.Failed {
		t.step, t.carries, s.exists.live = max(t.step, turnAccepted), p.Request.Injection, true
		c.touch(s)
	} else {
		c.do.Ended = c.endTurn(p.Request, p.ID, p.Failed, p.Stop, p.Code)
	}
	for _, u := range p.Usage {
		c.usage(s, t, u)
	}
}

// PromptSought: the response to a turn's prompt waits until that is read (Do.Wait), unless it is Late.
type PromptSought struct {
	Turn *Turn
	Late bool
}

func (p PromptSought) on(c *Connection) { c.do.Wait = !p.Late && !p.Turn.promptRead && !p.Turn.dropped }

// HarnessIdle: a version 2 harness has ended the turns that it has accepted, the last of them with Stop, and with Code
// if Stop is stopError.
type HarnessIdle struct {
	ID    []byte
	Stop  string
	Code  int
	Usage []Usage
}

func (i HarnessIdle) on(c *Connection) {
	s := c.sessions[string(i.ID)]
	if s == nil {
		return
	}
	ended := s.turns.accepted()
	for n, t := range ended {
		req := Request{Session: s, Turn: t, Injection: t.carries}
		if n < len(ended)-1 {
			if e := c.endTurn(req, "", false, StopEnd, 0); e != nil {
				c.do.Record = append(c.do.Record, e)
			}
			continue
		}
		c.do.Ended = c.endTurn(req, "", i.Stop == stopError, i.Stop, i.Code)
	}
	for _, u := range i.Usage {
		c.usage(s, nil, u)
	}
}

// endTurn ends a turn with its response. Turns before it without a response end as unanswered. It returns the event
// that has to be in the file before the response is forwarded, nil if there is none.
func (c *Connection) endTurn(req Request, id string, failed bool, stop string, code int) correlation.Event {
	s, t := req.Session, req.Turn
	became := c.becameOf(t, failed, stop, code)
	for _, before := range s.turns.before(t) {
		c.closeUnanswered(before)
	}
	if failed {
		stop = stopError
	} else {
		s.exists.live = true // even if its load seemed to fail
		code = 0
	}
	s.turns.end(t, stop)
	c.changes++
	c.do.Turn, c.do.Say, c.do.Wait = t, t.notices, !t.promptRead
	t.notices = nil
	c.settle(s, req.Injection, became)
	c.commandEnded(t)
	if s.off() || t.dropped {
		return nil
	}
	c.recordOpened(s)
	if c.recordBegun(t); t.Number == 0 { // answered before its prompt was forwarded
		return nil
	}
	c.markDue(t)
	c.touch(s)
	ended := correlation.TurnEnded{Turn: t.Number, Stop: t.stop, Code: code, Request: id, Lost: t.lost}
	if s.exists.recorded == 0 {
		c.record(s, ended)
		return nil
	}
	c.number(s, 1)
	return ended
}
