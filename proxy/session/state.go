package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// State says whether the session has had its context, as far as this process knows.
func (s *Session) State() correlation.State { return s.state }

// step changes a session's state as the table of states says (correlation.State.On), here and by an event in the
// ledger, where it takes effect unless another process has changed the state meanwhile. It is the only place where a
// state changes; adoptState copies what the ledger has. An event that the table does not allow is a fault of ours: it
// is logged and changes nothing.
func (c *Connection) step(s *Session, e correlation.Event) {
	from := s.state
	next, _, ok := from.On(e)
	if !ok {
		c.o.Log.Error().Err(&correlation.StepError{State: from, Event: e.Name}).Str("session", s.Label()).
			Msg("a session's state stays as it is")
		return
	}
	s.state = next
	if next == from || e.Name == correlation.Sent { // a claim is in the ledger already
		return
	}
	expected := []correlation.State{from}
	switch e.Name {
	case correlation.SwitchedOff, correlation.Answered, correlation.Refused, correlation.Failed, correlation.Cancelled:
		// from any state: the first always counts, the others end only this process's own claim
		expected = nil
	}
	c.record(s, eventlog.Stepped{Session: s.Number, From: expected, Event: e})
}

// adoptState takes over the state that the ledger has, unless what is in flight is our own.
func (s *Session) adoptState(state correlation.State) {
	if !s.sent {
		s.state = state
	}
}

// wantsContext reports whether a session is still to be given something that is fetched for it.
func (s *Session) wantsContext() bool {
	return s.state == correlation.Armed || s.state == correlation.IdentityGiven
}

// ClaimedElsewhere reports whether another proxy was sending the session's context when the ledger was last asked.
func (s *Session) ClaimedElsewhere() bool { return s.state == correlation.InFlight && !s.sent }

// HasSystemBlock reports whether the identity is in the session's system prompt, which a compaction does not touch.
func (s *Session) HasSystemBlock() bool {
	_, ok := SystemBlock(s.injections)
	return ok
}

// NoPromptInjected reports whether no prompt of the session carried a block: whatever it was given is in its system
// prompt.
func (s *Session) NoPromptInjected() bool {
	if s.state != correlation.IdentityGiven {
		return s.state == correlation.Armed
	}
	return !slices.ContainsFunc(s.injections, func(g *Injection) bool {
		return g.Kind != KindSystem && g.Outcome != correlation.WasRefused
	})
}

// NothingToTell marks the session as done: there is no context for it.
func (c *Connection) NothingToTell(s *Session) {
	if s.wantsContext() {
		c.step(s, correlation.Event{Name: correlation.NothingToTell})
	}
}

// InjectionSent notes that a prompt leaves with a block for which the ledger has granted the claim.
func (c *Connection) InjectionSent(s *Session, in *Injection) {
	if s.state != correlation.Off { // switched off meanwhile
		c.step(s, correlation.Event{Name: correlation.Sent})
	}
	s.sent = true
	s.claims++
	in.sentHere = true
	s.addInjection(in)
	s.seenItems = append(s.seenItems, in.Items...)
	if in.Fetch != nil {
		in.Fetch.used = true
		c.dropStoredContext(in.Fetch.Session)
	}
}

// Unclaim takes back a claim that the ledger granted too late: its prompt has left without the block.
func (c *Connection) Unclaim(s *Session) {
	c.record(s, eventlog.Stepped{Session: s.Number, Event: correlation.Event{Name: correlation.Refused}})
}

// Placed notes that the system prompt carries a block with the identity: the first prompt is to carry the memories
// only.
func (c *Connection) Placed(s *Session, in *Injection) {
	if s.Off { // the ledger has said so meanwhile
		return
	}
	c.step(s, correlation.Event{Name: correlation.Placed})
	s.placed = true
	s.injections = append(s.injections, in)
	// without a key: the local files are not fetched under one
	c.record(s, eventlog.Injected{Session: s.Number, Injection: in.Injection})
}

// becameOf says what a response means for the block that its prompt carried. A refused prompt never reached the
// conversation; after any other error it may or may not have; the traits say what is kept of a cancelled one.
func (c *Connection) becameOf(t *Turn, failed bool, stop string, code int) correlation.EventName {
	switch {
	case failed && refused(code):
		return correlation.Refused
	case failed && (t.cancelled || code == requestCancelled), !failed && stop == StopCancelled:
		return c.Traits().Cancelled.became(t.begun || t.toolCalled || t.Answer.Said())
	case failed:
		return correlation.Failed
	}
	return correlation.Answered
}

// settle applies what became of a prompt (becameOf) to the block that it carried.
func (c *Connection) settle(s *Session, in *Injection, became correlation.EventName) {
	if became == correlation.Cancelled {
		in.Outcome = correlation.WasCancelled
	}
	if in.settled { // a later prompt was answered before it
		c.answeredLate(s, in, became)
		return
	}
	in.settled = true
	s.sent = false
	switch became {
	case correlation.Refused:
		c.takeBack(s, in)
		fallthrough
	case correlation.Failed, correlation.Cancelled:
		c.step(s, correlation.Event{Name: became, From: in.From})
	default:
		rest := s.fetch == nil || !s.fetch.Finished() || s.fetch.Err == nil || s.fetch.Retryable()
		c.step(s, correlation.Event{Name: correlation.Answered, From: in.From, Partly: in.Kind == KindIdentity && rest})
		if in.Fetch != nil && in.Fetch == s.fetch {
			in.Fetch = in.Fetch.withoutContext()
			s.fetch = in.Fetch
		}
	}
	if lost := s.lost; lost != "" {
		s.lost = ""
		c.ContextLost(s, lost)
	}
}

// answeredLate ends the doubt about a block whose prompt was answered after a later one was.
func (c *Connection) answeredLate(s *Session, in *Injection, became correlation.EventName) {
	if newest, ok := s.newest(); s.state != correlation.Doubt || !ok || newest != in {
		return
	}
	switch became {
	case correlation.Answered:
		c.step(s, correlation.Event{Name: correlation.AssumedKept, Partly: in.Kind == KindIdentity})
	case correlation.Refused:
		c.takeBack(s, in)
		c.step(s, correlation.Event{Name: correlation.Clean, Placed: s.HasSystemBlock()})
	}
}

// takeBack frees what a refused prompt carried for the next prompt.
func (c *Connection) takeBack(s *Session, in *Injection) {
	in.Outcome = correlation.WasRefused
	for _, item := range in.Items {
		if i := slices.Index(s.seenItems, item); i >= 0 {
			s.seenItems = slices.Delete(s.seenItems, i, i+1)
		}
	}
	if in.Fetch != nil {
		in.Fetch.used = false
		c.storeContext(in.Fetch)
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

// SettleDoubt settles by what the replay has shown whether the harness has the block that was sent, and whether a
// session that the ledger does not have was given one. late: a prompt is about to leave, so without a replay the
// harness's traits decide. What stays in doubt gets the same text again: twice is a nuisance, never is a failure.
func (c *Connection) SettleDoubt(s *Session, late bool) {
	if s.state == correlation.Armed && s.unknown && s.replay.marked {
		c.step(s, correlation.Event{Name: correlation.Marked, Unknown: true})
	}
	if s.state != correlation.Doubt {
		return
	}
	sent, known := s.newest()
	partly := known && sent.Kind == KindIdentity // its memories are still to come
	switch {
	case s.replay.marked:
		c.step(s, correlation.Event{Name: correlation.Marked, Partly: partly})
	case s.replay.user && (s.replay.whole || late), late && !known:
		c.step(s, correlation.Event{Name: correlation.Clean, Placed: s.HasSystemBlock()})
	case late && c.Traits().KeepsFailed && sent.Outcome != correlation.WasCancelled:
		c.step(s, correlation.Event{Name: correlation.AssumedKept, Partly: partly})
	}
}

// ContextLost makes the next plain prompt carry context again, because the harness has cleared the conversation (lost
// is correlation.Cleared) or compacted it (Compacted).
func (c *Connection) ContextLost(s *Session, lost correlation.EventName) {
	if s.Off || s.unclaimable || c.o.Reinject == ReinjectNever ||
		lost == correlation.Compacted && s.textSinceBlock/bytesPerToken < c.Traits().KeepsMessages {
		return
	}
	if s.state == correlation.InFlight { // the block under way is not settled: settle applies it
		if s.lost != correlation.Cleared {
			s.lost = lost
		}
		return
	}
	whole, before := lost == correlation.Cleared || c.o.Reinject == ReinjectAll, s.state
	c.step(s, correlation.Event{Name: lost, Placed: s.HasSystemBlock(), Whole: whole})
	if before == correlation.IdentityGiven { // the memories are still to come, and bring the identity again
		s.seenItems = nil
		return
	}
	if s.state == before {
		return
	}
	s.seenItems, s.fetch, s.placed = nil, nil, s.state == correlation.IdentityGiven
	if !whole {
		s.fetches = identityAlone
	}
	c.dropStoredContext(s)
}
