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
	guard.Run("held prompt", func() { parts, in = c.claimed(p) })
	if in == nil && c.mayGoUnclaimed(p) {
		guard.Run("held prompt", func() { parts, in = c.unclaimed(p) })
	}
	if in == nil {
		parts = [][]byte{p.line}
	}
	c.leaves(p, in)
	return parts, in
}

// claimed returns a prompt with its block in front, once the ledger has granted that; nil: nothing goes in, or there
// was no time.
func (c *Connection) claimed(p *Held) ([][]byte, *Injection) {
	for range maxClaims {
		guard.Point("held prompt")
		if !c.awaitRow(p.ctx, p) {
			return nil, nil
		}
		block := c.awaitBlock(p.ctx, p)
		if block == nil {
			return nil, nil
		}
		spliced, ok := frame.PrependParts(p.line, block.Block.JSON(), p.blocks)
		if !ok || !c.awaitOpened(p.ctx, p) {
			return nil, nil
		}
		switch err := c.claim(p.ctx, p, block); {
		case err == nil:
			return spliced, block
		case !errors.Is(err, correlation.ErrStateChanged):
			return nil, nil
		}
		p.beaten, p.Session.exists.ledger = true, stale
	}
	return nil, nil
}

// mayGoUnclaimed reports whether a prompt that the database kept waiting gets the identity all the same: its session
// is to be told, as far as this process knows, and the client still wants an answer.
func (c *Connection) mayGoUnclaimed(p *Held) bool {
	s := p.Session
	return !p.cancelled && !p.beaten && !s.off() && s.untold()
}

// unclaimed returns a prompt with the identity in front, which needs no database. That it went in is recorded when that
// can be; another process that claims the session meanwhile tells it again: twice is a nuisance, never is a failure.
func (c *Connection) unclaimed(p *Held) ([][]byte, *Injection) {
	s := p.Session
	files, ok := c.awaitIdentity(p.ctx, p)
	if !ok {
		return nil, nil
	}
	in := c.compose(s, kindIdentity, files, memory.Context{})
	if in == nil {
		return nil, nil
	}
	parts, ok := frame.PrependParts(p.line, in.Block.JSON(), p.blocks)
	if !ok {
		return nil, nil
	}
	in.from, in.unclaimed = s.context.state, true
	c.describe(p, in)
	c.record(s, correlation.Unclaimed{Session: s.Number(), From: in.from, Injection: in.Injection})
	c.inject(s, in)
	s.history.since += len(p.line)
	return parts, in
}

// awaitRow waits until the ledger has answered about a prompt's session. It reports false if nothing is to go in.
func (c *Connection) awaitRow(ctx context.Context, p *Held) bool {
	s, limit := p.Session, AskTime(c.o.Hold)
	if last, ok := s.history.newest(); ok && last.unclaimed { // a prompt has waited for it in vain
		limit = min(limit, recallLimit)
	}
	ctx, cancel := p.within(ctx, limit)
	defer cancel()
	if !c.until(ctx, func() bool { return s.exists.ledger.answered() }) {
		return false
	}
	elsewhere := s.context.state == correlation.InFlight && !s.context.sent() // in another proxy, as it was asked last
	if s.exists.ledger == stale || elsewhere {
		s.history.endReplay() // the replay may be from before the prompt that is in doubt now
		if !c.lookUpAgain(ctx, s) {
			return false
		}
	}
	c.settleDoubt(s, true)
	return !s.off() && s.exists.ledger != stale && s.exists.ledger != none
}

// awaitBlock waits for what a prompt is to carry, by its session's state, and composes it; nil: nothing.
func (c *Connection) awaitBlock(ctx context.Context, p *Held) (in *Injection) {
	s := p.Session
	x := &s.context
	retried := x.retry()
	if retried {
		c.touch(s)
		c.beginFetches()
	}
	from, f := x.state, x.fetch
	switch {
	case from == correlation.Armed && f.begun():
		in = c.awaitContext(ctx, p, f, true)
	case from == correlation.IdentityGiven:
		patient := x.patient()
		x.plan().patient = false
		in = c.awaitContext(ctx, p, f, retried || patient)
	case from == correlation.Doubt:
		in = s.history.inDoubt()
	case from == correlation.Done:
		in = c.composeNews(s)
	}
	if in == nil || ctx.Err() != nil {
		return nil
	}
	in.from = from
	return in
}

// awaitContext waits for a fetch, if the prompt may, and for what was recalled, if that goes with it; and composes what
// there is then.
func (c *Connection) awaitContext(ctx context.Context, p *Held, f *Fetch, waits bool) *Injection {
	wait, cancel := p.within(ctx, AskTime(c.o.Hold))
	defer cancel()
	s := p.Session
	armed, continued := s.context.state == correlation.Armed, ""
	if !s.exists.unrecorded() { // without a row it continues none
		p.continued = nil
		c.beside.Continued(wait, p)
		if c.until(wait, func() bool { return p.continued != nil }) {
			continued = *p.continued
		}
	}
	if waits {
		c.until(wait, f.ended)
	}
	if f.came() {
		c.awaitRecall(ctx, p)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case f.ended() && errors.Is(f.err, memory.ErrOwned):
		c.nothingToTell(s)
		return nil
	case f.came():
		start, kind := f.got, KindContext
		if !armed {
			start, kind = start.WithoutIdentity(), KindMemories
		}
		start.Continued = continued
		return c.composeFetched(s, f, kind, start, p.found)
	case armed: // not there in time, or not at all: the local files go in its place
		f.missed = true
		files, _ := c.awaitIdentity(ctx, p)
		files.Continued = continued
		return c.compose(s, kindIdentity, files, memory.Context{})
	case f.ended() && !f.retryable():
		return c.composeFetched(s, f, KindMemories, memory.Context{Continued: continued}, memory.Context{})
	case f.ended(): // the memories are still to come
		f.missed = true
	}
	return c.compose(s, kindIdentity, memory.Context{Items: c.news(s), Continued: continued}, memory.Context{})
}

// awaitIdentity waits for the local identity files.
func (c *Connection) awaitIdentity(ctx context.Context, p *Held) (files memory.Context, ok bool) {
	c.readIdentity(p)
	if !c.until(ctx, func() bool { return p.identity != nil }) {
		return files, false
	}
	return *p.identity, true
}

// composeFetched composes what a fetch has got. If that is nothing, there is nothing to tell.
func (c *Connection) composeFetched(s *Session, f *Fetch, kind string, start, found memory.Context) *Injection {
	start.Items = c.withNews(s, start.Items)
	in := c.compose(s, kind, start, found)
	if in == nil {
		c.nothingToTell(s)
		return nil
	}
	in.fetch = f
	return in
}

// composeNews composes what a prompt gets in a session that has had its context: messages from other agents.
func (c *Connection) composeNews(s *Session) *Injection {
	return c.compose(s, KindMessages, memory.Context{Source: memory.FromDaemon, Items: c.news(s)}, memory.Context{})
}

// awaitRecall waits for what memory finds for a prompt's words, if it is searched.
func (c *Connection) awaitRecall(ctx context.Context, p *Held) {
	ctx, cancel := p.within(ctx, p.recallFor)
	defer cancel()
	c.until(ctx, func() bool { return !p.recalls })
}

// withNews returns items with what other agents have sent in front.
func (c *Connection) withNews(s *Session, items []memory.Item) []memory.Item {
	news := slices.DeleteFunc(c.news(s), func(it memory.Item) bool {
		return slices.ContainsFunc(items, func(o memory.Item) bool { return o.ID == it.ID })
	})
	return slices.Concat(news, items)
}

// compose makes a block, nil if it would say nothing.
func (c *Connection) compose(s *Session, kind string, start, found memory.Context) *Injection {
	block, ok := memory.Compose(s.ID(), start, found, c.traits.HintsTools(s.exists.mode))
	if !ok {
		return nil
	}
	in := &Injection{Block: block, Took: start.Took}
	in.Kind, in.Source = kind, cmp.Or(start.Source, found.Source)
	return in
}

// awaitOpened waits until the harness has opened a prompt's session: before, there is nothing to claim. It reports
// false if it has not, or will not.
func (c *Connection) awaitOpened(ctx context.Context, p *Held) bool {
	ctx, cancel := p.within(ctx, AskTime(c.o.Hold))
	defer cancel()
	e := &p.Session.exists
	c.until(ctx, func() bool { return !e.unrecorded() || !e.opening })
	return !e.unrecorded()
}

// claim asks the ledger whether a block may go in, and notes that it does. If the ledger does not answer in time the
// session stays as it is.
func (c *Connection) claim(ctx context.Context, p *Held, in *Injection) error {
	limit := c.o.Hold
	if in.from == correlation.Done { // it has its context, and waits for less
		limit = min(limit, recallLimit+c.o.Hold-AskTime(c.o.Hold))
	}
	ctx, cancel := p.within(ctx, limit)
	defer cancel()
	s := p.Session
	c.describe(p, in)
	p.claiming = true
	c.beside.Claim(ctx, p, in.from, in.Injection)
	if !c.until(ctx, func() bool { return !p.claiming }) {
		p.claiming = false
		return ctx.Err()
	}
	if p.refusal == nil {
		c.inject(s, in)
		s.history.since += len(p.line)
	}
	return p.refusal
}

// describe says of a block what the ledger keeps.
func (c *Connection) describe(p *Held, in *Injection) {
	cut := p.found.CutOff
	if p.recalls {
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
	last, ok := p.Session.history.newest()
	if replaced := ok && last.unclaimed && !last.At.Before(in.At); granted && !replaced {
		c.record(p.Session, correlation.Stepped{
			Session: p.Session.Number(), Step: correlation.Step{Name: correlation.Refused},
		})
	}
}

// leaves lets a held prompt go, with a block or as it came.
func (c *Connection) leaves(p *Held, in *Injection) {
	s := p.Session
	p.gone, p.line, p.found = true, nil, memory.Context{}
	if in == nil {
		s.context.held = nil
	}
	if s.off() && in == nil { // switched off while it was held
		return
	}
	c.forwarded(p.turn)
	c.await(p.key, Request{Session: s, Injection: in, Turn: p.turn})
}
