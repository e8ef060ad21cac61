package session

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
)

// State says whether the session has had its context.
func (s *Session) State() correlation.State { return s.state }

// step does to a session's state what an event does, here and, if nobody has moved it there meanwhile, in the ledger.
// It is the only place where the state changes; what the ledger says of a session is taken over in know. An event
// that the table of states does not allow is a fault of ours: it is logged and changes nothing.
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
	case correlation.SwitchedOff, correlation.Answered, correlation.Refused, correlation.Failed:
		// from any state; the latter end only a claim of ours
		expected = nil
	}
	c.append(s, eventlog.Stepped{Session: s.Number, From: expected, Event: e})
}

// know takes over the state that the ledger has, unless what is in flight is our own.
func (s *Session) know(state correlation.State) {
	if !s.sent {
		s.state = state
	}
}

// waiting reports whether a session in its state is still to be given something that was fetched for it.
func (s *Session) waiting() bool {
	return s.state == correlation.Armed || s.state == correlation.IdentityGiven
}

// Elsewhere reports whether the session's context was in another proxy's hands when last it was heard of.
func (s *Session) Elsewhere() bool { return s.state == correlation.InFlight && !s.sent }

// HasSystemBlock reports whether a session has the identity in its system prompt, which is no part of the conversation.
func (s *Session) HasSystemBlock() bool {
	_, ok := SystemBlock(s.given)
	return ok
}

// Untold reports whether no prompt of a session has held anything of ours: all that it was given is in its system
// prompt.
func (s *Session) Untold() bool {
	if s.state != correlation.IdentityGiven {
		return s.state == correlation.Armed
	}
	return !slices.ContainsFunc(s.given, func(g *Injection) bool {
		return g.Kind != KindSystem && g.Outcome != correlation.WasRefused
	})
}

// Told marks a session as having had all that there is for it.
func (c *Connection) Told(s *Session) {
	if s.waiting() {
		c.step(s, correlation.Event{Name: correlation.Told})
	}
}

// Sent notes that a prompt is to leave with an injection that the ledger has taken.
func (c *Connection) Sent(s *Session, in *Injection) {
	if s.state != correlation.Off { // switched off meanwhile
		c.step(s, correlation.Event{Name: correlation.Sent})
	}
	s.sent = true
	s.claims++
	in.here = true
	s.gave(in)
	s.seen = append(s.seen, in.Items...)
	if in.Fetch != nil {
		in.Fetch.used = true
		c.dropKept(in.Fetch.Session)
	}
}

// Unclaim takes back a claim of a prompt that left without its injection, for the ledger took too long.
func (c *Connection) Unclaim(s *Session) {
	c.append(s, eventlog.Stepped{Session: s.Number, Event: correlation.Event{Name: correlation.Refused}})
}

// Placed notes that a session has a block in its system prompt: the first prompt is to carry the memories only.
func (c *Connection) Placed(s *Session, in *Injection) {
	if s.Off { // as has turned out meanwhile
		return
	}
	c.step(s, correlation.Event{Name: correlation.Placed})
	s.placed = true
	s.given = append(s.given, in)
	// without a key: it holds nothing that was fetched under one
	c.append(s, eventlog.Injected{Session: s.Number, Injection: in.Injection})
}

// settle brings a session to the state that a prompt's response leaves it in. A refused prompt never reached the
// conversation; after any other error it may or may not have.
func (c *Connection) settle(s *Session, in *Injection, failed bool, code int) {
	if in.settled { // another one was answered before it
		c.answeredLate(s, in, failed, code)
		return
	}
	in.settled = true
	s.sent = false
	switch {
	case failed && refused(code):
		c.takeBack(s, in)
		c.step(s, correlation.Event{Name: correlation.Refused, From: in.From})
	case failed:
		c.step(s, correlation.Event{Name: correlation.Failed, From: in.From})
	default:
		rest := s.fetch == nil || !s.fetch.Finished() || s.fetch.Err == nil || s.fetch.MayCome()
		c.step(s, correlation.Event{Name: correlation.Answered, From: in.From, Partly: in.Kind == KindIdentity && rest})
		if in.Fetch != nil && in.Fetch == s.fetch {
			in.Fetch = in.Fetch.spent()
			s.fetch = in.Fetch
		}
	}
	if lost := s.lost; lost != "" {
		s.lost = ""
		c.Lose(s, lost)
	}
}

// answeredLate ends the doubt about an injection whose prompt was taken for one that is never answered.
func (c *Connection) answeredLate(s *Session, in *Injection, failed bool, code int) {
	if newest, ok := s.newest(); s.state != correlation.Doubt || !ok || newest != in {
		return
	}
	switch {
	case !failed:
		c.step(s, correlation.Event{Name: correlation.AssumedKept, Partly: in.Kind == KindIdentity})
	case refused(code):
		c.takeBack(s, in)
		c.step(s, correlation.Event{Name: correlation.Clean, Placed: s.HasSystemBlock()})
	}
}

// takeBack makes what a refused prompt carried be there for the next one.
func (c *Connection) takeBack(s *Session, in *Injection) {
	in.Outcome = correlation.WasRefused
	for _, item := range in.Items {
		if i := slices.Index(s.seen, item); i >= 0 {
			s.seen = slices.Delete(s.seen, i, i+1)
		}
	}
	if in.Fetch != nil {
		in.Fetch.used = false
		c.keep(in.Fetch)
	}
}

// refused reports whether an error says that the harness did not take the request up.
func refused(code int) bool {
	switch code {
	case -32600, -32601, -32602, -32002, authRequired:
		return true
	}
	return false
}

// authRequired asks for a login, which comes before a prompt is taken in (docs/facts/harnesses.md).
const authRequired = -32000

// SettleDoubt ends the doubt whether the harness has the block that was sent,
// or our taking a session that we do not know for one that has none, by what
// the replay has shown. When a prompt is about to leave, late, what is known of
// such harnesses has to do. What stays in doubt gets the same text again: twice
// is a nuisance, never is a failure.
func (c *Connection) SettleDoubt(s *Session, late bool) {
	if s.state == correlation.Armed && s.stranger && s.replay.marked {
		c.step(s, correlation.Event{Name: correlation.Marked, Stranger: true})
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
	case late && c.Traits().KeepsFailed:
		c.step(s, correlation.Event{Name: correlation.AssumedKept, Partly: partly})
	}
}

// Lose makes the next plain prompt carry context again, for the harness has lost the conversation
// (correlation.Cleared) or summed it up (Compacted).
func (c *Connection) Lose(s *Session, lost correlation.EventName) {
	if s.Off || s.unclaimable || c.o.Reinject == ReinjectNever ||
		lost == correlation.Compacted && s.said/bytesPerToken < c.Traits().KeepsMessages {
		return
	}
	if s.state == correlation.InFlight { // with the prompt under way: it is not settled yet
		if s.lost != correlation.Cleared {
			s.lost = lost
		}
		return
	}
	whole, before := lost == correlation.Cleared || c.o.Reinject == ReinjectAll, s.state
	c.step(s, correlation.Event{Name: lost, Placed: s.HasSystemBlock(), Whole: whole})
	if before == correlation.IdentityGiven { // the memories are still to come: identity comes with them again
		s.seen = nil
		return
	}
	if s.state == before {
		return
	}
	s.seen, s.fetch, s.placed = nil, nil, s.state == correlation.IdentityGiven
	if !whole {
		s.wants = identityAlone
	}
	c.dropKept(s)
}
