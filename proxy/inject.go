package proxy

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// An injector decides what a prompt is given, and gives it.
type injector struct {
	*env
	database *database
	finder   *finder
	fetcher  *fetcher
}

const (
	recallLimit   = 300 * time.Millisecond // a later prompt is held no longer for recall
	minRecallSize = 20                     // characters
)

// worthRecall reports whether a later prompt says enough to bring anything to mind.
func worthRecall(words string) bool { return utf8.RuneCountInString(words) >= minRecallSize }

// beginRecall starts to look for what the prompt's own words bring to mind, beside the session's context.
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
	j.tasks.run(func(ctx context.Context) {
		ctx, cancel := context.WithDeadline(ctx, h.read.Add(limit))
		defer cancel()
		h.recall <- j.fetcher.recall(ctx, s, h.words)
	})
}

// inject puts in front of a prompt what it is to be given, nil if that is nothing. Where another proxy has changed
// the session meanwhile it looks once more.
func (j *injector) inject(h *heldPrompt) ([][]byte, *session.Injection) {
	for range 2 {
		in := j.choose(h)
		if in == nil || h.gaveUp() {
			break
		}
		edited, ok := frame.PrependParts(h.line, in.Block.JSON(), "params", "prompt")
		if !ok {
			break
		}
		claimed, changed := j.claim(h, in)
		if claimed {
			return edited, in
		}
		if !changed {
			break
		}
	}
	return [][]byte{h.line}, nil
}

// choose waits, no longer than the prompt may be held, and decides what goes in; nil if nothing does.
func (j *injector) choose(h *heldPrompt) (in *session.Injection) {
	s := h.session
	ctx, cancel := context.WithDeadline(j.ctx, h.read.Add(j.o.HoldLimit-j.o.ClaimLimit))
	defer cancel()
	var ready chan struct{}
	j.table.Update(func(*session.Connection) { ready = s.Ready })
	// a database that somebody has locked is opened beside the conversation
	opened, stop := context.WithDeadline(ctx, h.read.Add(j.o.ClaimLimit))
	defer stop()
	if !wait(opened, h, j.database.opened) || !j.awaitLook(ctx, h, ready) {
		return nil
	}
	j.finder.again(ctx, s)
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
	j.table.Update(func(*session.Connection) { fetch = s.Fetch() }) // what follows from the change has begun
	switch state {
	case correlation.Armed:
		in = j.first(ctx, h, fetch)
	case correlation.Doubt:
		j.table.Update(func(*session.Connection) { in, _ = s.BlockInDoubt() })
	case correlation.IdentityGiven:
		in = j.rest(ctx, h, fetch, again)
	case correlation.Done:
		in = j.later(ctx, h)
	}
	if in != nil {
		in.From = state
	}
	return in
}

// awaitLook waits until the ledger was asked about a prompt's session: no longer than it may take where somebody has it
// locked.
func (j *injector) awaitLook(ctx context.Context, h *heldPrompt, ready chan struct{}) bool {
	select {
	case <-ready:
		return true
	default:
	}
	j.database.events.Stuck() // it is asked again now, not when its turn comes
	for ctx.Err() == nil && !h.gaveUp() {
		step, stop := context.WithTimeout(ctx, j.o.ClaimLimit)
		known := wait(step, h, ready)
		stop()
		if known || j.database.events.Stuck() {
			return known
		}
	}
	return false
}

// first is what an armed session's prompt is given: identity and memories,
// and what its own words bring to mind. If the fetch has not ended in time, the local identity files.
func (j *injector) first(ctx context.Context, h *heldPrompt, f *session.Fetch) *session.Injection {
	if f == nil {
		return nil
	}
	earlier, locked := j.database.earlier(ctx, h.session)
	if locked {
		return nil
	}
	inTime := wait(ctx, h, f.Done)
	switch {
	case h.gaveUp():
		return nil
	case inTime && f.Err == nil:
		in := j.compose(session.KindContext, h, f.Got.After(earlier), j.recalled(ctx, h))
		if in == nil && !h.gaveUp() {
			j.told(h.session) // the sources have answered, and there is nothing to tell
		}
		return in.WithFetch(f)
	case inTime && errors.Is(f.Err, memory.ErrOwned):
		j.told(h.session)
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
	return j.compose(session.KindIdentity, h, b.Memory.Identity(who).After(earlier), memory.Context{})
}

// rest is what a session gets that had only identity in time, once it is
// there. One that had identity in its system prompt has not waited yet, and does so once; so does one whose source was
// not there and is asked again.
func (j *injector) rest(ctx context.Context, h *heldPrompt, f *session.Fetch, again bool) (in *session.Injection) {
	mayWait := again
	j.table.Update(func(*session.Connection) { mayWait = h.session.FirstWait() || mayWait })
	earlier, locked := j.database.earlier(ctx, h.session)
	if locked {
		return nil
	}
	if f == nil || !f.Finished() && !(mayWait && wait(ctx, h, f.Done)) {
		return j.compose(session.KindIdentity, h, memory.Context{}.After(earlier), memory.Context{})
	}
	switch {
	case f.Retryable():
		j.table.Update(func(*session.Connection) { f.Missed() })
		return j.compose(session.KindIdentity, h, memory.Context{}.After(earlier), memory.Context{})
	case f.Err == nil:
		in = j.compose(session.KindMemories, h, f.Got.WithoutIdentity().After(earlier), j.recalled(ctx, h))
	case !errors.Is(f.Err, memory.ErrOwned):
		in = j.compose(session.KindMemories, h, memory.Context{}.After(earlier), memory.Context{})
	}
	if in == nil && !h.gaveUp() {
		j.told(h.session)
	}
	return in.WithFetch(f)
}

// later is what any prompt of a session that has had its context may be given: what other agents have sent to it, and
// what it brings to mind where that is looked for.
func (j *injector) later(ctx context.Context, h *heldPrompt) *session.Injection {
	ctx, cancel := context.WithDeadline(ctx, h.read.Add(recallLimit))
	defer cancel()
	recall := j.recalled(ctx, h)
	var news []memory.Item
	j.table.Update(func(*session.Connection) { news = j.database.messages(h.session) })
	if len(news) == 0 {
		return j.compose(session.KindRecall, h, memory.Context{}, recall)
	}
	return j.compose(session.KindMessages, h, memory.Context{Source: memory.FromDaemon, Items: news}, recall)
}

// told marks a session as having had all that there is for it.
func (j *injector) told(s *session.Session) {
	j.table.Update(func(c *session.Connection) { c.NothingToTell(s) })
}

// recalled waits for what the prompt's words brought to mind.
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

// compose makes the block of what there is to tell, nil if that is nothing.
func (j *injector) compose(kind string, h *heldPrompt, start, recall memory.Context) *session.Injection {
	style := memory.Style{Kind: memory.KindContext}
	if kind == session.KindRecall {
		style.Kind = memory.KindRecall
	}
	j.table.Update(func(c *session.Connection) { style.ToolHint = j.hints(c.Agent.Name) })
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

// Who has the last word about a claim.
const (
	claimOpen    = iota
	claimTaken   // the ledger has taken it
	claimGivenUp // the prompt has left without it
)

// claim moves the session to in flight and writes the injection, in one step
// that only one proxy can take. Where the ledger does not answer in time the
// prompt goes as it came and the session stays as it is. changed says that
// the session is in another state now, of which more may come.
func (j *injector) claim(h *heldPrompt, in *session.Injection) (claimed, changed bool) {
	s := h.session
	ctx, cancel := context.WithDeadline(j.ctx, h.read.Add(j.o.HoldLimit))
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, j.o.ClaimLimit)
	defer stop()
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
