package proxy

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// An injector decides which block goes into a held prompt, and claims the session for it.
type injector struct {
	*env
	database *database
	finder   *finder
	fetcher  *fetcher
}

const (
	recallLimit   = 300 * time.Millisecond // a prompt of a session that has its context is held no longer
	minRecallSize = 20                     // characters that such a prompt must have to be searched for
)

// worthRecall reports whether a later prompt says enough to search memory for it.
func worthRecall(words string) bool { return utf8.RuneCountInString(words) >= minRecallSize }

// beginRecall starts to search memory for the prompt's own words, beside the fetch of the session's context.
func (j *injector) beginRecall(h *heldPrompt) {
	s, limit := h.session, j.o.HoldLimit-j.o.ClaimLimit
	wanted := true
	j.table.Update(func(*session.Connection) {
		if !s.LookedUp() || s.Stale {
			return
		}
		switch s.State() {
		case correlation.Done:
			wanted = j.o.PerPrompt && worthRecall(h.words)
			limit = min(limit, recallLimit)
		case correlation.IdentityGiven:
			wanted = !s.MemoriesLate()
		case correlation.Doubt:
			wanted = false
		}
	})
	if !wanted {
		return
	}
	h.recall = make(chan memory.Context, 1)
	j.tasks.run("recall", func(ctx context.Context) {
		ctx, cancel := context.WithDeadline(ctx, h.read.Add(limit))
		defer cancel()
		var found memory.Context
		defer func() { h.recall <- found }()
		found = j.fetcher.recall(ctx, s, h.words)
	})
}

// inject returns a prompt with its block in front, and the injection; or the prompt as it came, and nil. If another
// proxy has changed the session's state meanwhile it decides once more.
func (j *injector) inject(h *heldPrompt) ([][]byte, *session.Injection) {
	ctx, cancel := context.WithDeadline(j.ctx, h.read.Add(j.o.HoldLimit))
	defer cancel()
	ctx, stop := j.database.unlessLocked(ctx)
	defer stop()
	for range 2 {
		in := j.choose(ctx, h)
		guard.Point("held prompt")
		if in == nil || h.isCancelled() {
			break
		}
		edited, ok := frame.PrependParts(h.line, in.Block.JSON(), "params", "prompt")
		if !ok {
			break
		}
		claimed, changed := j.claim(ctx, h, in)
		if claimed {
			return edited, in
		}
		if !changed {
			break
		}
	}
	return [][]byte{h.line}, nil
}

// choose waits for the context, so long that the claim has its time, and returns what to insert, nil for nothing.
func (j *injector) choose(ctx context.Context, h *heldPrompt) (in *session.Injection) {
	s := h.session
	ctx, cancel := context.WithDeadline(ctx, h.read.Add(j.o.HoldLimit-j.o.ClaimLimit))
	defer cancel()
	var ready chan struct{}
	j.table.Update(func(*session.Connection) { ready = s.Ready })
	if !wait(ctx, h, j.database.opened) || !wait(ctx, h, ready) {
		return nil
	}
	j.finder.lookUpAgain(ctx, s)
	var state correlation.State
	var fetch *session.Fetch
	again := false
	j.table.Update(func(c *session.Connection) {
		c.SettleDoubt(s, true)
		again = c.RetryFetch(s)
		state = s.State()
		if s.Off || s.Stale {
			state = correlation.Off
		}
	})
	j.table.Update(func(*session.Connection) { fetch = s.Fetch() }) // the update before may have begun a fetch
	switch state {
	case correlation.Armed:
		in = j.firstContext(ctx, h, fetch)
	case correlation.Doubt:
		j.table.Update(func(*session.Connection) { in, _ = s.BlockInDoubt() })
	case correlation.IdentityGiven:
		in = j.missingMemories(ctx, h, fetch, again)
	case correlation.Done:
		in = j.laterPrompt(ctx, h)
	}
	if in != nil {
		in.From = state
	}
	return in
}

// firstContext returns what an armed session's prompt gets: identity and memories, and what was found for its own
// words. If the fetch has not ended in time that is the identity from the local files alone.
func (j *injector) firstContext(ctx context.Context, h *heldPrompt, f *session.Fetch) *session.Injection {
	if f == nil {
		return nil
	}
	earlier := j.database.earlier(ctx, h.session)
	inTime := wait(ctx, h, f.Done)
	switch {
	case h.isCancelled():
		return nil
	case inTime && f.Err == nil:
		in := j.compose(session.KindContext, h, f.Got.WithEarlier(earlier), j.recalled(ctx, h))
		if in == nil && !h.isCancelled() {
			j.nothingToTell(h.session) // memory has answered, and is empty
		}
		return in.WithFetch(f)
	case inTime && errors.Is(f.Err, memory.ErrOwned):
		j.nothingToTell(h.session)
		return nil
	}
	b := j.database.ready(ctx)
	if b == nil {
		return nil
	}
	var who memory.Session
	j.table.Update(func(*session.Connection) {
		who = h.session.Who
		f.Missed()
	})
	return j.compose(session.KindIdentity, h, b.Memory.Identity(who).WithEarlier(earlier), memory.Context{})
}

// missingMemories returns the memories for a session that has only its identity, once they are there. A prompt waits
// for them only if none has before, because the identity went into the system prompt, or if they are being fetched
// again (again).
func (j *injector) missingMemories(
	ctx context.Context, h *heldPrompt, f *session.Fetch, again bool,
) (in *session.Injection) {
	mayWait := again
	j.table.Update(func(*session.Connection) { mayWait = h.session.FirstWait() || mayWait })
	earlier := j.database.earlier(ctx, h.session)
	if f == nil || !f.Finished() && !(mayWait && wait(ctx, h, f.Done)) {
		return j.compose(session.KindIdentity, h, memory.Context{}.WithEarlier(earlier), memory.Context{})
	}
	switch {
	case f.Retryable():
		j.table.Update(func(*session.Connection) { f.Missed() })
		return j.compose(session.KindIdentity, h, memory.Context{}.WithEarlier(earlier), memory.Context{})
	case f.Err == nil:
		in = j.compose(session.KindMemories, h, f.Got.WithoutIdentity().WithEarlier(earlier), j.recalled(ctx, h))
	case !errors.Is(f.Err, memory.ErrOwned):
		in = j.compose(session.KindMemories, h, memory.Context{}.WithEarlier(earlier), memory.Context{})
	}
	if in == nil && !h.isCancelled() {
		j.nothingToTell(h.session)
	}
	return in.WithFetch(f)
}

// laterPrompt returns what a prompt gets in a session that has had its context: messages from other agents, and what
// was found for its words if that was searched for.
func (j *injector) laterPrompt(ctx context.Context, h *heldPrompt) *session.Injection {
	ctx, cancel := context.WithDeadline(ctx, h.read.Add(recallLimit))
	defer cancel()
	recall := j.recalled(ctx, h)
	var news []memory.Item
	j.table.Update(func(*session.Connection) { news = j.database.messagesLocked(h.session) })
	if len(news) == 0 {
		return j.compose(session.KindRecall, h, memory.Context{}, recall)
	}
	return j.compose(session.KindMessages, h, memory.Context{Source: memory.FromDaemon, Items: news}, recall)
}

// nothingToTell marks a session as done: there is no context for it.
func (j *injector) nothingToTell(s *session.Session) {
	j.table.Update(func(c *session.Connection) { c.NothingToTell(s) })
}

// recalled waits for what was found for the prompt's words.
func (j *injector) recalled(ctx context.Context, h *heldPrompt) memory.Context {
	if h.recall == nil {
		return memory.Context{}
	}
	select {
	case got := <-h.recall:
		h.recall <- got
		return got
	case <-h.cancelled:
	case <-ctx.Done():
	}
	return memory.Context{}
}

// compose makes an injection of context and recall, nil if both are empty.
func (j *injector) compose(kind string, h *heldPrompt, start, recall memory.Context) *session.Injection {
	style := memory.Style{Kind: memory.KindContext}
	if kind == session.KindRecall {
		style.Kind = memory.KindRecall
	}
	j.table.Update(func(c *session.Connection) { style.ToolHint = j.toolHint(c.Agent.Name, h.session.Mode) })
	block, ok := memory.Compose(h.session.ID, start, recall, style)
	if !ok {
		return nil
	}
	in := &session.Injection{Block: block, Took: start.Took}
	in.Kind, in.Source = kind, start.Source
	if in.Source == "" {
		in.Source = recall.Source
	}
	return in
}

// Whether a claim counts is decided once, by the ledger's answer or by the prompt that waits no longer for it.
const (
	claimOpen    = iota
	claimTaken   // the ledger has granted it in time
	claimGivenUp // the prompt leaves without it
)

// claim moves the session to in flight and records the injection, in one transaction that only one proxy can win. If
// the ledger does not answer in time the prompt goes as it came and the session stays as it is. changed says that
// another proxy has changed the session's state: deciding again may help.
func (j *injector) claim(ctx context.Context, h *heldPrompt, in *session.Injection) (claimed, changed bool) {
	s := h.session
	if in.From == correlation.Done { // that prompt has its context, and waits for less
		limited, cancel := context.WithDeadline(ctx, h.read.Add(recallLimit+j.o.ClaimLimit))
		defer cancel()
		ctx = limited
	}
	ctx = sqlite.Patiently(sqlite.WithLockWait(ctx, j.o.ClaimLimit))
	now := j.o.Now()
	entry := correlation.Injection{
		Kind: in.Kind, BlockID: in.Block.ID, Text: in.Block.Text, Source: in.Source, Bytes: len(in.Block.Text),
		FetchMS: in.Took.Milliseconds(), HeldMS: now.Sub(h.read).Milliseconds(), Items: in.Block.Items, At: now,
	}
	var decided atomic.Int32
	err := j.database.ask(ctx, func(ctx context.Context, b *Backend) error {
		entry := entry
		j.table.Update(func(*session.Connection) { entry.Key = s.Who.Key })
		row, err := j.database.events.Row(ctx, s.Number)
		if err != nil {
			return err
		}
		_, err = b.Ledger.Claim(ctx, row, []correlation.State{in.From}, j.database.events.Process(), entry)
		guard.Point("claim")
		if err == nil && !decided.CompareAndSwap(claimOpen, claimTaken) {
			j.table.Update(func(c *session.Connection) { c.Unclaim(s) })
		}
		return err
	}, s)
	if err == nil || !decided.CompareAndSwap(claimOpen, claimGivenUp) {
		j.table.Update(func(c *session.Connection) {
			entry.Key = s.Who.Key
			in.Injection, in.Block = entry, memory.Block{}
			c.InjectionSent(s, in)
			s.CountUserText(h.size)
		})
		return true, false
	}
	j.o.Log.Info().Err(err).Str("session", s.Label()).Msg("the session was not claimed")
	if changed = errors.Is(err, correlation.ErrStateChanged); changed {
		j.table.Update(func(*session.Connection) { s.Stale = true })
	}
	return false, changed
}
