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
// block, claims the session and splices. It returns the prompt as it leaves, in parts, and the block; nil: it leaves as
// it came. What comes for the sessions meanwhile is handled where it waits.
func (c *Connection) Release(p *Held) (parts [][]byte, in *Injection) {
	defer p.cancel()
	ctx, stop := c.beside.Unlocked(p.ctx)
	defer stop()
	guard.Run("held prompt", func() {
		for range maxClaims {
			guard.Point("held prompt")
			if !c.awaitRow(ctx, p) {
				return
			}
			block := c.awaitBlock(ctx, p)
			if block == nil {
				return
			}
			spliced, ok := frame.PrependParts(p.line, block.Block.JSON(), "params", "prompt")
			if !ok {
				return
			}
			if !c.awaitOpened(ctx, p) {
				return
			}
			switch err := c.claim(ctx, p, block); {
			case err == nil:
				parts, in = spliced, block
				return
			case !errors.Is(err, correlation.ErrStateChanged):
				return
			}
			p.turn.Session.exists.ledger = stale // another proxy was first
		}
	})
	if in == nil {
		parts = [][]byte{p.line}
	}
	c.leaves(p, in)
	return parts, in
}

// awaitRow waits until the ledger has answered about a prompt's session. It reports false if nothing is to go in.
func (c *Connection) awaitRow(ctx context.Context, p *Held) bool {
	ctx, cancel := p.within(ctx, c.o.Hold-c.o.Claim)
	defer cancel()
	s := p.turn.Session
	if !c.until(ctx, func() bool { return s.exists.ledger.answered() }) {
		return false
	}
	if s.exists.ledger == stale || s.context.elsewhere() {
		s.history.endReplay() // the replay may be from before the prompt that is in doubt now
		if !c.lookUpAgain(ctx, s) {
			return false
		}
	}
	c.settleDoubt(s, true)
	return !s.off() && s.exists.ledger != stale
}

// awaitBlock waits for what a prompt is to carry, by its session's state, and composes it; nil: nothing.
func (c *Connection) awaitBlock(ctx context.Context, p *Held) (in *Injection) {
	s := p.turn.Session
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
		in = c.awaitNews(ctx, p)
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
	wait, cancel := p.within(ctx, c.o.Hold-c.o.Claim)
	defer cancel()
	s := p.turn.Session
	armed, continued := s.context.state == correlation.Armed, ""
	if !s.exists.unrecorded() { // without a row it continues none
		continued, _ = await(wait, c, c.beside.Continued(wait, s, c.Behind(s)))
	}
	if waits {
		c.until(wait, f.ended)
	}
	if f.came() {
		c.awaitRecall(ctx, p, p.recallFor)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case f.ended() && errors.Is(f.err, memory.ErrOwned):
		c.nothingToTell(s)
		return nil
	case f.came() && armed:
		return c.composeFetched(s, f, KindContext, f.got, p.found, continued)
	case f.came():
		return c.composeFetched(s, f, KindMemories, f.got.WithoutIdentity(), p.found, continued)
	case armed: // not there in time, or not at all: the local files go in its place
		f.missed = true
		files, _ := await(ctx, c, c.beside.Identity(s.exists.who()))
		files.Continued = continued
		return c.compose(s, kindIdentity, files, memory.Context{})
	case f.ended() && !f.retryable():
		return c.composeFetched(s, f, KindMemories, memory.Context{}, memory.Context{}, continued)
	case f.ended(): // the memories are still to come
		f.missed = true
	}
	return c.compose(s, kindIdentity, memory.Context{Items: c.news(s), Continued: continued}, memory.Context{})
}

// composeFetched composes what a fetch has got. If that is nothing, there is nothing to tell.
func (c *Connection) composeFetched(
	s *Session, f *Fetch, kind string, start, found memory.Context, continued string,
) *Injection {
	start.Items, start.Continued = c.withNews(s, start.Items), continued
	in := c.compose(s, kind, start, found)
	if in == nil {
		c.nothingToTell(s)
		return nil
	}
	in.fetch = f
	return in
}

// awaitNews composes what a prompt gets in a session that has had its context: messages from other agents, and what was
// found for its words.
func (c *Connection) awaitNews(ctx context.Context, p *Held) *Injection {
	s := p.turn.Session
	c.awaitRecall(ctx, p, min(c.o.Hold-c.o.Claim, recallLimit))
	kind, start := KindRecall, memory.Context{}
	if news := c.news(s); len(news) > 0 {
		kind, start = KindMessages, memory.Context{Source: memory.FromDaemon, Items: news}
	}
	return c.compose(s, kind, start, p.found)
}

// awaitRecall waits for what memory finds for a prompt's words, if it is searched.
func (c *Connection) awaitRecall(ctx context.Context, p *Held, limit time.Duration) {
	ctx, cancel := p.within(ctx, limit)
	defer cancel()
	c.until(ctx, func() bool { return p.recall != seeking })
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
	style := memory.Style{Kind: memory.KindContext, ToolHint: c.o.ToolHint(s.exists.mode)}
	if kind == KindRecall {
		style.Kind = memory.KindRecall
	}
	block, ok := memory.Compose(s.ID(), start, found, style)
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
	ctx, cancel := p.within(ctx, c.o.Hold-c.o.Claim)
	defer cancel()
	e := &p.turn.Session.exists
	c.until(ctx, func() bool { return !e.unrecorded() || !e.opening })
	return !e.unrecorded()
}

// claim asks the ledger whether a block may go in, and notes that it does. If the ledger does not answer in time the
// session stays as it is.
func (c *Connection) claim(ctx context.Context, p *Held, in *Injection) error {
	limit := c.o.Hold
	if in.from == correlation.Done { // it has its context, and waits for less
		limit = min(limit, recallLimit+c.o.Claim)
	}
	ctx, cancel := p.within(ctx, limit)
	defer cancel()
	s := p.turn.Session
	in.Injection = correlation.Injection{
		Key: s.exists.Open.Key, Kind: in.Kind, BlockID: in.Block.ID, Text: in.Block.Text, Source: in.Source,
		Bytes: len(in.Block.Text), FetchMS: in.Took.Milliseconds(), HeldMS: time.Since(p.read).Milliseconds(),
		Items: in.Block.Items, At: c.o.Now(),
	}
	err, ok := await(ctx, c, c.beside.Claim(ctx, s, in.from, in.Injection, c.Behind(s)))
	if !ok {
		return ctx.Err()
	}
	if err == nil {
		c.inject(s, in)
		s.history.since += len(p.line)
	}
	return err
}

// Ungranted takes a claim back: the prompt has left without its block.
func (c *Connection) Ungranted(s *Session) {
	c.record(s, correlation.Stepped{Session: s.Number(), Step: correlation.Step{Name: correlation.Refused}})
}

// leaves lets a held prompt go, with a block or as it came.
func (c *Connection) leaves(p *Held, in *Injection) {
	s := p.turn.Session
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
