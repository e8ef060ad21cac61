package session

import (
	"errors"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// step changes a session's state as the table of states says (correlation.State.On), here and by an event in the
// ledger, where it takes effect unless another process has changed the state meanwhile. It is the only place where a
// state changes; context.adopt copies what the ledger has. A step that the table does not allow is a fault of ours:
// it is logged and changes nothing.
func (c *Connection) step(s *Session, e correlation.Step) {
	from := s.context.state
	next, _, ok := from.On(e)
	if !ok {
		c.beside.Fault(s, correlation.IllegalStep(from, e.Name))
		return
	}
	s.context.state = next
	if next == from || e.Name == correlation.Sent { // a claim is in the ledger already
		return
	}
	expected := []correlation.State{from}
	switch e.Name {
	case correlation.SwitchedOff, correlation.Answered, correlation.Refused, correlation.Failed, correlation.Cancelled:
		// from any state: the first always counts, the others end only this process's own claim
		expected = nil
	}
	c.record(s, correlation.Stepped{Session: s.Number, From: expected, Step: e})
}

// nothingToTell marks the session as done: there is no context for it.
func (c *Connection) nothingToTell(s *Session) {
	if s.context.wants() {
		c.step(s, correlation.Step{Name: correlation.NothingToTell})
	}
}

// inject notes that a prompt leaves with a block for which the ledger has granted the claim.
func (c *Connection) inject(p *Held, in *Injection) {
	s := p.Session
	if s.context.state != correlation.Off { // switched off meanwhile
		c.step(s, correlation.Step{Name: correlation.Sent})
	}
	for _, l := range c.lookups {
		l.claimed = l.claimed || l.of == s
	}
	in.sentHere, in.Block = true, memory.Block{}
	s.history.add(in)
	s.history.since += len(p.line)
	if f := in.fetch; f != nil {
		f.step = used
		c.dropContext(f.session)
	}
}

// Placed notes that a system prompt carries a block with the identity. The first prompt is to carry the memories only.
func (c *Connection) Placed(s *Session, in *Injection) {
	if s.off() { // the ledger has said so meanwhile
		return
	}
	c.step(s, correlation.Step{Name: correlation.Placed})
	s.context.fetch.patient = true
	s.history.blocks = append(s.history.blocks, in)
	// without a key: the local files are not fetched under one
	c.record(s, correlation.Injected{Session: s.Number, Injection: in.Injection})
}

// becameOf says what a response means for the block that its prompt carried. A refused prompt never reached the
// conversation; after any other error it may or may not have, unless it was accepted before (version 2); the traits say
// what is kept of a cancelled one.
func (c *Connection) becameOf(t *Turn, p PromptAnswer) correlation.StepName {
	switch {
	case p.Failed && refused(p.Code) && t.step != turnAccepted:
		return correlation.Refused
	case p.Failed && (t.cancelled || p.Code == requestCancelled), !p.Failed && p.Stop == stopCancelled:
		return c.traits.Cancelled.became(t.begun || t.toolCalled)
	case p.Failed && t.step != turnAccepted:
		return correlation.Failed
	}
	return correlation.Answered
}

// settle applies what became of a prompt (becameOf) to the block that it carried; nil: none.
func (c *Connection) settle(s *Session, in *Injection, became correlation.StepName) {
	if in == nil {
		return
	}
	if became == correlation.Cancelled {
		in.Outcome = correlation.WasCancelled
	}
	if in.settled { // a later prompt was answered before it
		c.answeredLate(s, in, became)
		return
	}
	in.settled = true
	lost := correlation.StepName("")
	if x := &s.context; x.sent() {
		lost, x.held = x.held.lost, nil
	}
	switch became {
	case correlation.Refused:
		c.takeBack(in)
		fallthrough
	case correlation.Failed, correlation.Cancelled:
		c.step(s, correlation.Step{Name: became, From: in.from})
	default:
		f := s.context.fetch
		rest := f.err == nil || errors.Is(f.err, memory.ErrUnavailable)
		c.step(s, correlation.Step{Name: correlation.Answered, From: in.from, Partly: in.Kind == kindIdentity && rest})
		if in.fetch != nil && in.fetch == f {
			f.got, f.stored = memory.Context{}, nil // it is in the conversation, and a session may be idle for days
		}
	}
	if lost != "" {
		c.contextLost(s, lost)
	}
}

// takeBack frees what a refused prompt carried for the next prompt.
func (c *Connection) takeBack(in *Injection) {
	in.Outcome = correlation.WasRefused
	if f := in.fetch; f != nil {
		f.step = fetched
		c.storeContext(f)
	}
}

// refused reports whether an error code says that the harness did not begin with the request.
func refused(code int) bool {
	switch code {
	case -32600, -32601, -32602, -32002, authRequired:
		return true
	}
	return false
}

const (
	authRequired     = -32000 // asks for a login, before the prompt enters the conversation (docs/facts/harnesses.md)
	requestCancelled = -32800 // answers $/cancel_request
)

// bytesPerToken is the estimate of harnesses that have no tokenizer at hand.
const bytesPerToken = 4

// contextLost makes the next plain prompt carry context again, because the harness has cleared the conversation (lost
// is correlation.Cleared) or compacted it (Compacted).
func (c *Connection) contextLost(s *Session, lost correlation.StepName) {
	x, h := &s.context, &s.history
	if s.off() || s.exists.ledger == none ||
		lost == correlation.Compacted && h.since/bytesPerToken < c.traits.KeepsMessages {
		return
	}
	if x.state == correlation.InFlight { // the block under way is not settled: settle applies it
		if x.sent() && x.held.lost != correlation.Cleared {
			x.held.lost = lost
		}
		return
	}
	whole, before := lost == correlation.Cleared, x.state
	c.step(s, correlation.Step{Name: lost, Placed: SystemBlock(h.blocks) != nil, Whole: whole})
	partly := before == correlation.IdentityGiven // the memories are still to come, and bring the identity again
	if partly || x.state != before {
		for _, b := range h.blocks { // the harness has lost them
			b.Items = nil
		}
	}
	if !partly && x.state != before {
		x.forget(whole)
		c.dropContext(s)
	}
}

// dropTurns drops what is not recorded of a session's turns, and records nothing more of them.
func (c *Connection) dropTurns(s *Session) {
	w := &s.turns
	for _, t := range w.open {
		t.dropped, t.prompts, t.tools = true, nil, nil
	}
	if w.last != nil {
		w.last.dropped = true
	}
	w.last, w.open = nil, nil
	c.turnChanges.Add(1)
}

// switchOff inserts and records nothing more in a session. What is not recorded yet is dropped too.
func (c *Connection) switchOff(s *Session) {
	if s.exists.silence == heard {
		s.exists.silence = off
	}
	c.dropTurns(s)
	c.step(s, correlation.Step{Name: correlation.SwitchedOff})
}

// forget records nothing more of a session that a person has had forgotten.
func (c *Connection) forget(s *Session) {
	s.exists.silence, s.exists.deferred = hidden, nil
	c.change(s)
	c.dropTurns(s)
}
