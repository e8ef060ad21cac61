package session

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// maxUnread is how many bytes of prompts may wait to be read; with more they are recorded at once.
const maxUnread = 192 << 10

// JudgePrompt says what becomes of a prompt that begins, of the session with this id. It is held if it may get a block,
// unless it is too long; any other begins a turn, and is looked at.
func (c *Connection) JudgePrompt(id []byte, key string, tooLong bool) (v wire.Verdict, t *Turn) {
	s := c.sessions[string(id)]
	if s == nil || s.off() {
		return wire.Pass, nil
	}
	c.settleRewind(s)
	if !tooLong && c.mustHold(s) {
		return wire.Hold, nil
	}
	return wire.Tap, c.leave(s, key)
}

// leave begins the turn of a prompt that is forwarded as it is.
func (c *Connection) leave(s *Session, key string) *Turn {
	t := s.turns.begin(s)
	c.forwarded(t)
	c.await(key, Request{Session: s, Turn: t})
	return t
}

// HoldPrompt takes a prompt that was held and is whole. It goes on waiting, with a turn in its place among those of the
// prompts around it; a command, a prompt without blocks and one of a session that is off are forwarded: nil.
func (c *Connection) HoldPrompt(id []byte, key string, line []byte, said Said) *Held {
	s := c.sessions[string(id)]
	if s != nil && said.Off {
		c.switchOff(s)
	}
	if s == nil || s.off() {
		return nil
	}
	said.command = c.slashCommand(s, said.First)
	if said.command != "" || said.Blocks == (frame.Span{}) {
		c.said(c.leave(s, key), said)
		return nil
	}
	p := &Held{
		Session: s, Read: time.Now(), Words: said.Words,
		turn: s.turns.begin(s), key: key, line: line, blocks: said.Blocks,
	}
	p.ctx, p.cancel = context.WithDeadline(c.o.Context, p.Read.Add(c.o.Hold))
	s.context.held = p
	c.said(p.turn, said)
	c.beside.Identity(p, s.exists.who()) // now, for at the end there may be no time
	return p
}

// PromptRead takes what a prompt says that was forwarded.
func (c *Connection) PromptRead(t *Turn, bytes int, said Said) {
	s := t.Session
	s.history.since += bytes
	if said.Off {
		c.switchOff(s)
		return
	}
	said.command = c.slashCommand(s, said.First)
	c.said(t, said)
	c.commandEnded(t) // a quick harness may have answered by now
}

// JudgeSteering returns the session of words of the user in the middle of a turn; nil: they are not looked at.
func (c *Connection) JudgeSteering(id []byte) *Session {
	if s := c.sessions[string(id)]; s != nil && !s.off() {
		return s
	}
	return nil
}

// Steered takes what the user says in the middle of a turn.
func (c *Connection) Steered(s *Session, bytes int, prompt Prompt) {
	s.history.since += bytes
	t := s.turns.current()
	if t == nil || t.dropped || prompt.Size == 0 {
		return
	}
	c.recordBegun(t)
	c.keep(t, prompt)
}

// Said is what a prompt says.
type Said struct {
	Prompt Prompt
	Blocks frame.Span // the array of its blocks, of which it has one; zero: nothing can come in front of it
	First  string     // its first text, which may be a command
	Words  string     // all of its texts, if it was held
	Off    bool       // its _meta switches memory off

	command string
}

// Read reports whether a turn's prompt was read, or is not wanted.
func (t *Turn) Read() bool { return t.promptRead || t.dropped }

func (c *Connection) said(t *Turn, said Said) {
	if said.command != "" {
		t.command = said.command
	}
	t.promptRead = true
	if t.dropped {
		return
	}
	t.lost += said.Prompt.Omitted
	if t.step != turnWaits {
		c.recordBegun(t)
	}
	c.keep(t, said.Prompt)
}

// keep has what the user says in a turn recorded.
func (c *Connection) keep(t *Turn, p Prompt) {
	t.prompts = append(t.prompts, p)
	if c.waiting.unread += p.Size; c.waiting.unread > maxUnread {
		c.beside.Hurry(Now)
	}
	c.markDue(t)
	c.touch(t.Session)
}

// HarnessEnded begins the turns whose prompts are still held: the harness will not get them, but the user has said it.
// It returns how many bytes of turns could not be kept.
func (c *Connection) HarnessEnded() (lost int) {
	for _, s := range c.sessions {
		for _, t := range s.turns.open {
			if t.step == turnWaits {
				c.forwarded(t)
			}
		}
	}
	return c.waiting.lost
}

// PromptAnswered takes the response to a prompt, which ends its turn and settles the block that the prompt carried. In
// version 2 of the protocol a result says only that the harness has accepted the prompt: the turn goes on, and
// the block is in flight, until the harness says that it is idle (docs/facts/acp.md, "Version 2"). It returns the event
// that says that the turn has ended, which has to be written before the response is forwarded; nil: nothing has to be.
func (c *Connection) PromptAnswered(req Request, p PromptAnswer) (ended correlation.Event) {
	s, t := req.Session, req.Turn
	if p.Accepted && !p.Failed {
		t.step, t.carries, s.exists.live = max(t.step, turnAccepted), req.Injection, true
		c.touch(s)
	} else {
		ended = c.endTurn(req, p)
	}
	for _, u := range p.Usage {
		c.usage(s, t, u)
	}
	return ended
}

// HarnessIdle ends the turns that a version 2 harness has accepted, the last of them as it says. It returns that one,
// and its event as PromptAnswered does.
func (c *Connection) HarnessIdle(id []byte, p PromptAnswer) (last *Turn, ended correlation.Event) {
	s := c.sessions[string(id)]
	if s == nil {
		return nil, nil
	}
	p.Failed = p.Stop == stopError
	var accepted []*Turn
	for _, t := range s.turns.open {
		if t.step == turnAccepted {
			accepted = append(accepted, t)
		}
	}
	for n, t := range accepted {
		req := Request{Session: s, Turn: t, Injection: t.carries}
		if n == len(accepted)-1 {
			last, ended = t, c.endTurn(req, p)
		} else if event := c.endTurn(req, PromptAnswer{Stop: StopEnd}); event != nil {
			c.beside.Record(event)
		}
	}
	for _, u := range p.Usage {
		c.usage(s, nil, u)
	}
	return last, ended
}

// endTurn ends a turn with its response. Turns before it without a response end as unanswered. It returns the event
// that has to be in the file before the response is forwarded, nil if there is none.
func (c *Connection) endTurn(req Request, p PromptAnswer) correlation.Event {
	s, t := req.Session, req.Turn
	became := c.becameOf(t, p)
	for _, before := range s.turns.before(t) {
		c.closeUnanswered(before)
	}
	if p.Failed {
		p.Stop = stopError
	} else {
		s.exists.live = true // even if its load seemed to fail
		p.Code = 0
	}
	s.turns.end(t, p.Stop)
	c.turnChanges.Add(1)
	if len(t.notices) > 0 && !t.Answer.Said() {
		t.Answer.Add(t.notices)
	}
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
	ended := correlation.TurnEnded{Turn: t.Number, Stop: t.stop, Code: p.Code, Request: p.ID, Lost: t.lost}
	if !s.exists.recorded {
		c.record(s, ended)
		return nil
	}
	return ended
}
