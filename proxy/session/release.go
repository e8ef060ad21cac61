package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// maxClaims is how often a prompt's session is claimed: another proxy may come first.
const maxClaims = 2

// Release is the way of a held prompt: it waits for the session's row and for what the prompt is to carry, composes the
// block, claims the session and splices. Where there is no time for that, the identity goes in without. It returns the
// prompt as it leaves, in parts, and the block; nil: it leaves as it came. What comes for the sessions meanwhile is
// handled where it waits.
func (c *Connection) Release(p *Held) (parts [][]byte, in *Injection) {
	defer p.cancel()
	s := p.Session
	guard.Run("held prompt", func() { parts, in = c.claimed(p) })
	// The database kept it waiting: the session is to be told, as far as this process knows, and the client still wants
	// an answer.
	if in == nil && !p.cancelled && !p.beaten && !s.off() && s.untold() {
		guard.Run("held prompt", func() { parts, in = c.unclaimed(p) })
	}
	if in == nil {
		parts, s.context.held = [][]byte{p.line}, nil
	}
	p.gone, p.line, p.Words, p.Found, p.Files = true, nil, "", nil, nil
	if in != nil || !s.off() { // else it was switched off while it was held
		c.forwarded(p.turn)
		c.await(p.key, Request{Session: s, Injection: in, Turn: p.turn})
	}
	return parts, in
}

// claimed returns a prompt with its block in front, once the ledger has granted that; nil: nothing goes in, or there
// was no time.
func (c *Connection) claimed(p *Held) ([][]byte, *Injection) {
	s := p.Session
	e := &s.exists
	ask, cancel := context.WithDeadline(p.ctx, p.Read.Add(AskTime(c.o.Hold)))
	defer cancel()
	for range maxClaims {
		guard.Point("held prompt")
		if !c.awaitRow(ask, p) {
			return nil, nil
		}
		var in *Injection
		from := s.context.state
		switch from {
		case correlation.Armed, correlation.IdentityGiven:
			in = c.awaitContext(ask, p)
		case correlation.Doubt:
			in = s.history.inDoubt()
		case correlation.Done:
			in = c.compose(s, KindMessages, memory.Context{Source: memory.FromDaemon}, memory.Context{})
		}
		if in == nil || p.ctx.Err() != nil {
			return nil, nil
		}
		in.from = from
		parts, ok := frame.PrependParts(p.line, in.Block.JSON(), p.blocks)
		// before the harness has opened the session there is nothing to claim
		c.until(ask, func() bool { return !e.unrecorded() || !e.opening })
		if !ok || e.unrecorded() {
			return nil, nil
		}
		switch err := c.claim(p, in); {
		case err == nil:
			return parts, in
		case !errors.Is(err, correlation.ErrStateChanged):
			return nil, nil
		}
		p.beaten, e.ledger = true, stale
	}
	return nil, nil
}

// unclaimed returns a prompt with the identity in front, which needs no database. That it went in is recorded when that
// can be; another process that claims the session meanwhile tells it again: twice is a nuisance, never is a failure.
func (c *Connection) unclaimed(p *Held) ([][]byte, *Injection) {
	s := p.Session
	in := c.compose(s, kindIdentity, come(p.ctx, c, &p.Files), memory.Context{})
	if in == nil {
		return nil, nil
	}
	parts, ok := frame.PrependParts(p.line, in.Block.JSON(), p.blocks)
	if !ok {
		return nil, nil
	}
	in.from, in.unclaimed = s.context.state, true
	c.describe(p, in)
	c.record(s, correlation.Unclaimed{Session: s.Number, From: in.from, Injection: in.Injection})
	c.inject(p, in)
	return parts, in
}

// come waits for what somebody beside was asked for; it is zero if ctx ends first.
func come[T any](ctx context.Context, c *Connection, what **T) (got T) {
	if c.until(ctx, func() bool { return *what != nil }) {
		got = **what
	}
	return got
}

// awaitRow waits until the ledger has answered about a prompt's session. It reports false if nothing is to go in.
func (c *Connection) awaitRow(ask context.Context, p *Held) bool {
	s := p.Session
	e := &s.exists
	if last := s.history.newest(); last != nil && last.unclaimed { // a prompt has waited for it in vain
		var cancel context.CancelFunc
		ask, cancel = context.WithDeadline(ask, p.Read.Add(recallLimit))
		defer cancel()
	}
	if !c.until(ask, func() bool { return e.ledger.answered() }) {
		return false
	}
	elsewhere := s.context.state == correlation.InFlight && !s.context.sent() // in another proxy, as it was asked last
	if e.ledger == stale || elsewhere {
		s.history.replay = replay{} // it may be from before the prompt that is in doubt now
		again := c.filled(&Lookup{Session: s, Kind: OpensKnown, of: s})
		c.beside.LookUp(ask, again)
		if !c.until(ask, func() bool { return again.ended }) {
			return false
		}
	}
	c.settleDoubt(s, true)
	c.settleRewind(s)
	return !s.off() && e.ledger != stale && e.ledger != none
}

// awaitContext waits for a session's fetch, if the prompt may, and composes what there is then.
func (c *Connection) awaitContext(ask context.Context, p *Held) *Injection {
	s, x := p.Session, &p.Session.context
	armed := x.state == correlation.Armed
	waits := armed || x.fetch.patient
	if x.fetch.missed && errors.Is(x.fetch.err, memory.ErrUnavailable) { // it may be there now, and never got the key
		x.fetch, waits = &Fetch{}, true
	}
	c.begin(s)
	f := x.fetch
	f.patient = false
	continued := ""
	if !s.exists.unrecorded() { // without a row it continues none
		p.Continued = nil
		c.beside.Continued(ask, p)
		continued = come(ask, c, &p.Continued)
	}
	if waits {
		c.until(ask, func() bool { return f.step >= fetched })
	}
	if p.ctx.Err() != nil {
		return nil
	}
	return c.composeFetched(p, f, armed, continued)
}

// composeFetched composes what a fetch has got by now, and what was recalled, if that goes with it. armed says that the
// session has not been told anything yet. If nothing more is to come, and that is nothing, there is nothing to tell.
func (c *Connection) composeFetched(p *Held, f *Fetch, armed bool, continued string) (in *Injection) {
	var start, found memory.Context
	kind, last := kindIdentity, false
	switch ended := f.step >= fetched; {
	case errors.Is(f.err, memory.ErrOwned):
		c.nothingToTell(p.Session)
		return nil
	case ended && f.err == nil:
		ctx, cancel := context.WithDeadline(p.ctx, p.Until)
		defer cancel()
		found = come(ctx, c, &p.Found)
		kind, start, last = KindContext, f.got, true
		if !armed {
			kind, start = KindMemories, start.WithoutIdentity()
		}
	case armed: // not there in time, or not at all: the local files go in its place
		f.missed = true
		start = come(p.ctx, c, &p.Files)
	case ended && !errors.Is(f.err, memory.ErrUnavailable):
		kind, last = KindMemories, true
	case ended: // the memories are still to come
		f.missed = true
	}
	start.Continued = continued
	if in = c.compose(p.Session, kind, start, found); last && in != nil {
		in.fetch = f
	} else if last && p.ctx.Err() == nil {
		c.nothingToTell(p.Session)
	}
	return in
}

// compose makes a block, with what other agents have sent in front; nil if it would say nothing. An identity that goes
// alone goes without these: where there are no files, the block would count as the identity, which then never came.
func (c *Connection) compose(s *Session, kind string, start, found memory.Context) *Injection {
	if kind != kindIdentity || s.context.state != correlation.Armed {
		news := slices.DeleteFunc(c.news(s), func(it memory.Item) bool {
			return slices.ContainsFunc(start.Items, func(o memory.Item) bool { return o.ID == it.ID })
		})
		start.Items = slices.Concat(news, start.Items)
	}
	block, ok := memory.Compose(s.ID(), start, found, c.traits.HintsTools(s.exists.mode))
	if !ok {
		return nil
	}
	in := &Injection{Block: block, Took: start.Took}
	in.Kind, in.Source = kind, cmp.Or(start.Source, found.Source)
	return in
}

// claim asks the ledger whether a block may go in, and notes that it does. If the ledger does not answer in time the
// session stays as it is.
func (c *Connection) claim(p *Held, in *Injection) error {
	limit := c.o.Hold
	if in.from == correlation.Done { // it has its context, and waits for less
		limit = min(limit, recallLimit+c.o.Hold-AskTime(c.o.Hold))
	}
	ctx, cancel := context.WithDeadline(p.ctx, p.Read.Add(limit))
	defer cancel()
	c.describe(p, in)
	p.claiming = true
	c.beside.Claim(ctx, p, in.from, in.Injection)
	if !c.until(ctx, func() bool { return !p.claiming }) {
		p.claiming = false
		return ctx.Err()
	}
	if p.refusal == nil {
		c.inject(p, in)
	}
	return p.refusal
}

// describe says of a block what the ledger keeps.
func (c *Connection) describe(p *Held, in *Injection) {
	cut := time.Duration(0)
	if p.Found != nil {
		cut = p.Found.CutOff
	} else if !p.Until.IsZero() {
		cut = time.Since(p.Read)
	}
	in.Injection = correlation.Injection{
		Key: p.Session.exists.Open.Key, Kind: in.Kind, BlockID: in.Block.ID, Text: in.Block.Text,
		Source: in.Source,
		Bytes:  len(in.Block.Text), FetchMS: in.Took.Milliseconds(), HeldMS: time.Since(p.Read).Milliseconds(),
		CutMS: cut.Milliseconds(), Items: in.Block.Items, At: c.o.Now(),
	}
}

// Claimed takes the ledger's answer to a claim. A claim that was granted though the prompt leaves without the block,
// for it waits no longer or err is a mistake of ours, is taken back. Where the identity went in its place, the ledger
// has put that in the claim's.
func (c *Connection) Claimed(p *Held, in correlation.Injection, granted bool, err error) {
	if p.claiming {
		p.claiming, p.refusal = false, err
		granted = granted && err != nil
	}
	last := p.Session.history.newest()
	if replaced := last != nil && last.unclaimed && !last.At.Before(in.At); granted && !replaced {
		c.record(p.Session, correlation.Stepped{
			Session: p.Session.Number, Step: correlation.Step{Name: correlation.Refused},
		})
	}
}
