package session

import (
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

const (
	recallLimit   = 300 * time.Millisecond // a prompt of a session that has its context is held no longer
	minRecallSize = 20                     // characters that such a prompt must have to be searched for
	maxRounds     = 2
)

// mustHold reports whether a plain prompt has to be held, because it may get a block or the ledger has not answered.
// While another prompt of this connection is held or carries a block, none is.
func (c *Connection) mustHold(s *Session) bool {
	if s.off() || s.exists.ledger == none || s.context.held != nil {
		return false
	}
	// in flight in another proxy: it may have ended there
	if !s.exists.ledger.answered() || s.exists.ledger == stale || s.context.state != correlation.Done {
		return true
	}
	return len(s.turns.open) == 0 && (c.o.PerPrompt || len(c.news(s)) > 0)
}

// news returns what other agents have sent to a session and was not inserted yet.
func (c *Connection) news(s *Session) []memory.Item {
	if c.o.Messages == nil {
		return nil
	}
	sent := c.o.Messages(s.exists.Open.Key)
	if len(sent) == 0 {
		return nil
	}
	given := s.history.given()
	return slices.DeleteFunc(sent, func(m memory.Item) bool { return slices.Contains(given, m.ID) })
}

// hold begins to hold a prompt with these words.
func (c *Connection) hold(p *Held, words string) {
	s := p.turn.Session
	s.context.held = p
	limit, wanted := c.o.Hold-c.o.Claim, true
	if e := s.exists.ledger; e == known || e == unknown {
		switch s.context.state {
		case correlation.Done:
			wanted = c.o.PerPrompt && utf8.RuneCountInString(words) >= minRecallSize
			limit = min(limit, recallLimit)
		case correlation.IdentityGiven:
			if wanted = !s.context.late(); wanted && s.context.fetch.missed { // a prompt has waited for them before
				limit = min(limit, recallLimit)
			}
		case correlation.Doubt:
			wanted = false
		}
	}
	if wanted {
		p.recall, p.recallUntil = seeking, p.read.Add(limit)
		c.do.Recall = &RecallJob{Prompt: p, Until: p.recallUntil}
	}
}

// RecallBegins: a search is to begin. Do.Who and Do.Seen say for whom, and what it was given before; before the ledger
// has answered it waits (Do.Wait).
type RecallBegins struct{ Prompt *Held }

func (r RecallBegins) on(c *Connection) {
	s := r.Prompt.turn.Session
	c.do.Wait = !s.exists.ledger.answered()
	c.do.Who, c.do.Seen = s.exists.who(), s.history.given()
}

// Recalled: what memory has found for a held prompt's words, without what the session was given before.
type Recalled struct {
	Prompt *Held
	Found  memory.Context
}

func (r Recalled) on(c *Connection) {
	r.Prompt.recall, r.Prompt.found = sought, r.Found
	c.do.News = true
}

// CancelAsked: the client wants no answer any more, of a session (ID) or to a request (Key). A prompt that is held goes
// out as it came.
type CancelAsked struct {
	ID  []byte
	Key string
}

func (k CancelAsked) on(c *Connection) {
	for _, s := range c.sessions {
		if h := s.context.held; h != nil && h.step != gone && (h.key == k.Key || s.ID() == string(k.ID)) {
			h.cancelled, c.do.News = true, true
		}
	}
	if t := c.pending[k.Key].Turn; t != nil {
		c.cancel(t)
	}
	if s := c.sessions[string(k.ID)]; s != nil {
		for _, t := range s.turns.open {
			c.cancel(t)
		}
	}
}

// cancel notes that the client wants a turn to end. On a busy machine a harness comes to a prompt later: where it does
// not say when, it is given as long as it took to open a session.
func (c *Connection) cancel(t *Turn) {
	after := c.traits().KeptAfter
	if after > 0 && !c.traits().SaysActive {
		after = max(after, c.slowest)
	}
	t.cancelled = true
	t.begun = t.begun || after > 0 && !t.taken.IsZero() && c.at.Sub(t.taken) >= after
}

// PromptWaits: a held prompt's owner asks what it needs (Do.Prompt). If it was given up on, and has not left, it goes
// out as it came.
type PromptWaits struct {
	Prompt  *Held
	GivenUp bool
}

func (p PromptWaits) on(c *Connection) {
	if p.GivenUp && p.Prompt.step != gone {
		c.leaves(p.Prompt, nil)
	}
	c.advance(p.Prompt)
}

// ContinuedFound: how the conversation ended that a held prompt's session continues; "" if it continues none, or nobody
// has said it in time.
type ContinuedFound struct {
	Prompt *Held
	Text   string
}

func (e ContinuedFound) on(c *Connection) {
	if e.Prompt.step == toContinued {
		e.Prompt.continued, e.Prompt.step = e.Text, toContext
	}
	c.advance(e.Prompt)
}

// Composed: the block of a held prompt; nil if there is nothing to say.
type Composed struct {
	Prompt    *Held
	Injection *Injection
}

func (b Composed) on(c *Connection) {
	p := b.Prompt
	if b.Injection == nil && p.last && !p.cancelled {
		c.nothingToTell(p.turn.Session)
	}
	c.claim(p, b.Injection)
}

// Claimed: the ledger has answered a claim, or the owner waits no longer for it. A claim that is granted too late is
// taken back: the prompt has left without its block.
type Claimed struct {
	Prompt *Held
	Err    error
}

func (d Claimed) on(c *Connection) {
	p := d.Prompt
	s := p.turn.Session
	switch {
	case p.step != claiming && d.Err == nil:
		if p.in == nil {
			c.record(s, correlation.Stepped{Session: s.Number(), Step: correlation.Step{Name: correlation.Refused}})
		}
	case p.step != claiming:
	case d.Err == nil:
		c.inject(s, p.in)
		s.history.since += p.bytes
		c.leaves(p, p.in)
	case errors.Is(d.Err, correlation.ErrStateChanged) && p.rounds+1 < maxRounds:
		s.exists.ledger = stale
		p.rounds++
		p.step, p.again, p.in = toLedger, false, nil
	default:
		if errors.Is(d.Err, correlation.ErrStateChanged) {
			s.exists.ledger = stale
		}
		c.leaves(p, nil)
	}
	c.advance(p)
	c.do.News = true
}

// advance takes the steps that a held prompt can take, and says what is in the way of the next.
func (c *Connection) advance(p *Held) {
	if p.cancelled && p.step < claiming {
		c.leaves(p, nil)
	}
	switch p.step {
	case toLedger:
		c.askLedger(p)
	case toContinued:
		if p.turn.Session.exists.unrecorded() { // it has no row, and continues none
			p.step = toContext
			c.advance(p)
			return
		}
		c.do.Prompt = Step{Need: Continue, Until: c.until(p), Behind: c.behind(p.turn.Session)}
	case toContext:
		c.awaitContext(p)
	case composing:
		c.do.Prompt = p.next
	case claiming:
		if e := p.turn.Session.exists; e.unrecorded() { // there is nothing to claim before the harness has opened it
			if c.do.Prompt = (Step{Need: Wait, Until: c.until(p)}); !e.opening || !c.at.Before(c.until(p)) {
				c.leaves(p, nil)
			}
			return
		}
		until := p.read.Add(c.o.Hold)
		if p.from == correlation.Done { // it has its context, and waits for less
			until = p.read.Add(min(c.o.Hold, recallLimit+c.o.Claim))
		}
		c.do.Prompt = Step{
			Need: Claim, Injection: p.in, From: p.from, Until: until, Behind: c.behind(p.turn.Session),
		}
	case gone:
		c.do.Prompt = Step{Need: Leave, Injection: p.in, Off: p.turn.Session.off() && p.in == nil}
	}
}

// askLedger waits until the ledger has answered about a prompt's session, and decides by it.
func (c *Connection) askLedger(p *Held) {
	s, until := p.turn.Session, c.until(p)
	switch {
	case !s.exists.ledger.answered() && c.at.Before(until):
		c.do.Prompt = Step{Need: Wait, Until: until}
	case !s.exists.ledger.answered():
		c.leaves(p, nil)
	case (s.exists.ledger == stale || s.context.elsewhere()) && !p.again:
		p.again = true
		s.history.endReplay() // the replay may be from before the prompt that is in doubt now
		c.do.Prompt = Step{Need: LookAgain, Until: until, Lookup: c.lookUpAgain(s)}
	default:
		c.decide(p)
	}
}

// until is how long a prompt waits for what it is to carry, so that the claim has its time.
func (c *Connection) until(p *Held) time.Time { return p.read.Add(c.o.Hold - c.o.Claim) }

// decide decides by the session's state what a prompt is to carry.
func (c *Connection) decide(p *Held) {
	s := p.turn.Session
	x := &s.context
	c.settleDoubt(s, true)
	retried := !s.off() && x.retry()
	if retried {
		c.touch(s)
		c.beginFetches()
	}
	p.from, p.fetch = x.state, x.fetch
	switch {
	case s.off() || s.exists.ledger == stale:
		c.leaves(p, nil)
	case x.state == correlation.Armed && x.fetch.begun():
		p.step, p.waits = toContinued, true
	case x.state == correlation.IdentityGiven:
		p.step, p.waits = toContinued, retried || x.patient()
		x.plan().patient = false
	case x.state == correlation.Doubt:
		p.fetch = nil
		c.claim(p, s.history.inDoubt())
	case x.state == correlation.Done:
		p.step, p.fetch = toContext, nil
	default:
		c.leaves(p, nil)
	}
	c.advance(p)
}

// awaitContext waits for what a prompt is to carry: for the fetch, if it may, and for what was recalled, if that goes
// with it.
func (c *Connection) awaitContext(p *Held) {
	if p.from == correlation.Done {
		c.composeLater(p)
		return
	}
	f := p.fetch
	until := time.Time{}
	switch {
	case f.begun() && !f.ended() && p.waits:
		until = c.until(p)
	case f.ended() && f.err == nil && p.recall == seeking:
		until = p.recallUntil
	}
	if c.at.Before(until) {
		c.do.Prompt = Step{Need: Wait, Until: until}
		return
	}
	c.composeFirst(p)
}

// composeFirst says what the block of a prompt is made of whose session is still to be given something.
func (c *Connection) composeFirst(p *Held) {
	f := p.fetch
	ended := f.ended()
	next := Step{Need: Compose, Continued: p.continued}
	p.last = ended
	switch {
	case ended && errors.Is(f.err, memory.ErrOwned):
		c.nothingToTell(p.turn.Session)
		c.leaves(p, nil)
		return
	case ended && f.err == nil && p.from == correlation.IdentityGiven:
		next.Kind, next.Start, next.Recall = KindMemories, f.got.WithoutIdentity(), p.found
	case ended && f.err == nil:
		next.Kind, next.Start, next.Recall = KindContext, f.got, p.found
	case p.from == correlation.Armed: // not there in time, or not at all
		f.missed, p.last, p.fetch = true, false, nil
		next.Kind, next.Local = kindIdentity, true
	case !ended || f.retryable():
		if ended {
			f.missed = true
		}
		next.Kind, p.last, p.fetch = kindIdentity, false, nil
	default:
		next.Kind = KindMemories
	}
	next.Start.Items = slices.Concat(missing(c.news(p.turn.Session), next.Start.Items), next.Start.Items)
	c.compose(p, next)
}

// missing returns the items that are not among others, by id.
func missing(items, others []memory.Item) []memory.Item {
	return slices.DeleteFunc(items, func(it memory.Item) bool {
		return slices.ContainsFunc(others, func(o memory.Item) bool { return o.ID == it.ID })
	})
}

// composeLater says what a prompt gets in a session that has had its context: messages from other agents, and what was
// found for its words.
func (c *Connection) composeLater(p *Held) {
	if until := p.read.Add(min(c.o.Hold-c.o.Claim, recallLimit)); p.recall == seeking && c.at.Before(until) {
		c.do.Prompt = Step{Need: Wait, Until: until}
		return
	}
	next := Step{Need: Compose, Kind: KindRecall, Recall: p.found}
	if news := c.news(p.turn.Session); len(news) > 0 {
		next.Kind, next.Start = KindMessages, memory.Context{Source: memory.FromDaemon, Items: news}
	}
	c.compose(p, next)
}

func (c *Connection) compose(p *Held, next Step) {
	e := &p.turn.Session.exists
	next.Who, next.Mode = e.who(), e.mode
	p.step, p.next = composing, next
	c.do.Prompt = next
}

// claim has the ledger asked whether a block may be inserted.
func (c *Connection) claim(p *Held, in *Injection) {
	if in == nil || p.cancelled {
		c.leaves(p, nil)
		return
	}
	who := p.turn.Session.exists.who()
	in.Injection = correlation.Injection{
		Key: who.Key, Kind: in.Kind, BlockID: in.Block.ID, Text: in.Block.Text, Source: in.Source,
		Bytes: len(in.Block.Text), FetchMS: in.Took.Milliseconds(), HeldMS: c.at.Sub(p.read).Milliseconds(),
		Items: in.Block.Items, At: c.at,
	}
	in.from, in.fetch = p.from, p.fetch
	p.step, p.in = claiming, in
	c.advance(p)
}

// leaves lets a held prompt go, with a block or as it came.
func (c *Connection) leaves(p *Held, in *Injection) {
	s := p.turn.Session
	p.step, p.in, p.next, p.found = gone, in, Step{}, memory.Context{}
	if in == nil {
		s.context.held = nil
	}
	c.do.Prompt = Step{Need: Leave, Injection: in}
	if s.off() && in == nil { // switched off while it was held
		c.do.Prompt.Off = true
		return
	}
	c.forwarded(p.turn)
	c.await(p.key, Request{Session: s, Injection: in, Turn: p.turn})
}
