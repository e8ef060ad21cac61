package proxy

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// The kinds of injections, as the ledger has them.
const (
	kindContext  = "context"  // what a session's first prompt is told
	kindIdentity = "identity" // the local files only: the rest was not there in time
	kindMemories = "memories" // that rest, with a later prompt
	kindRecall   = "recall"   // what a later prompt brought to mind
)

// A heldPrompt is a prompt that waits for its context.
type heldPrompt struct {
	line    []byte // as the client sent it
	id      []byte // the request's id, as a raw token
	session *session
	words   string
	read    time.Time // when it was read: its time runs from here

	recall    *recollection // nil when nothing is looked for
	once      sync.Once
	cancelled chan struct{}
}

// cancel ends the wait: the prompt goes out as it came.
func (h *heldPrompt) cancel() { h.once.Do(func() { close(h.cancelled) }) }

// gaveUp reports whether the wait was ended.
func (h *heldPrompt) gaveUp() bool {
	select {
	case <-h.cancelled:
		return true
	default:
		return false
	}
}

// A recollection is what a prompt's own words bring to mind, on its way.
type recollection struct {
	done chan struct{} // closed when got stands
	got  memory.Context
}

// beginRecall starts to look for what the prompt's own words bring to mind, beside the session's context.
func (r *Relay) beginRecall(h *heldPrompt) {
	s, limit := h.session, r.o.HoldLimit-r.o.ClaimLimit
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.settled() && !s.unsure {
		switch s.state {
		case correlation.Done:
			if !worthRecall(h.words) {
				return
			}
			limit = min(limit, recallLimit)
		case correlation.IdentityGiven:
			if s.context == nil || !s.placed && !s.context.finished() {
				return
			}
		case correlation.Doubt:
			return
		}
	}
	c := &recollection{done: make(chan struct{})}
	h.recall = c
	r.tasks.run(func(ctx context.Context) {
		defer close(c.done)
		ctx, cancel := context.WithDeadline(ctx, h.read.Add(limit))
		defer cancel()
		c.got = r.recall(ctx, s, h.words)
	})
}

// worthRecall reports whether a later prompt says enough to bring anything to mind.
func worthRecall(words string) bool { return utf8.RuneCountInString(words) >= minRecallSize }

const (
	recallLimit   = 300 * time.Millisecond // a later prompt is held no longer for recall
	minRecallSize = 20                     // characters
)

// resolve ends a prompt's wait. It gives the prompt with its context in
// front, or as the client sent it; forwarded is to be called once it has left.
func (r *Relay) resolve(h *heldPrompt) (line []byte, forwarded func()) {
	s := h.session
	line, in, g := r.inject(h)
	waited := r.o.Now().Sub(h.read)
	r.mu.Lock()
	defer r.mu.Unlock()
	s.prompts--            // counted when it was held; expect counts it again
	if s.off && g == nil { // as has turned out meanwhile
		return line, func() {}
	}
	t := r.expect(s, h.id, g)
	t.started = h.read
	r.hear(t, h.line)
	log := r.o.Log.Info().Str("session", s.label()).Dur("held", waited)
	if g != nil {
		log = log.Str("kind", in.kind).Str("source", in.source).Int("bytes", len(in.block.Text))
	}
	log.Bool("injected", g != nil).Msg("prompt")
	return line, r.journal.nudge
}

// inject puts in front of a prompt what it is to be given. Where another
// proxy has changed the session meanwhile it looks once more.
func (r *Relay) inject(h *heldPrompt) ([]byte, insert, *grant) {
	for range 2 {
		in, back, ok := r.choose(h)
		if !ok || h.gaveUp() {
			break
		}
		edited, ok := frame.Prepend(h.line, in.block.JSON(), "params", "prompt")
		if !ok {
			break
		}
		claimed, changed := r.claim(h, in, back)
		if claimed {
			return edited, in, &grant{kind: in.kind, back: back, fetch: in.fetch, items: in.block.Items}
		}
		if !changed {
			break
		}
	}
	return h.line, insert{}, nil
}

// An insert is what a prompt is to be given.
type insert struct {
	kind   string
	block  memory.Block
	source string
	took   time.Duration
	fetch  *fetch // that it comes from, if that is all used by it
}

// choose waits, no longer than the prompt may be held, and decides what goes
// in. back is the state that the session has now.
func (r *Relay) choose(h *heldPrompt) (in insert, back correlation.State, ok bool) {
	s := h.session
	ctx, cancel := context.WithDeadline(r.ctx, h.read.Add(r.o.HoldLimit-r.o.ClaimLimit))
	defer cancel()
	r.mu.Lock()
	ready := s.ready
	r.mu.Unlock()
	if !wait(ctx, h, ready) {
		return in, "", false
	}
	r.lookAgain(ctx, s)
	r.mu.Lock()
	r.settleDoubt(s, true)
	state, fetch := s.state, s.context
	if s.off || s.unsure {
		state = correlation.Off
	}
	r.mu.Unlock()
	switch state {
	case correlation.Armed:
		in, ok = r.firstContext(ctx, h, fetch)
	case correlation.Doubt:
		in, ok = r.sameAgain(s)
	case correlation.IdentityGiven:
		in, ok = r.rest(ctx, h, fetch)
	case correlation.Done:
		if r.o.PerPrompt && worthRecall(h.words) {
			limit, stop := context.WithDeadline(ctx, h.read.Add(recallLimit))
			defer stop()
			in, ok = r.compose(kindRecall, h, memory.Context{}, r.recalled(limit, h))
		}
	}
	return in, state, ok
}

// lookAgain asks the ledger about a session of which it did not say enough,
// or whose context was in another proxy's hands.
func (r *Relay) lookAgain(ctx context.Context, s *session) {
	r.mu.Lock()
	again := s.unsure || s.elsewhere()
	if again {
		s.replay = replay{} // what was shown was there before what is in doubt now, perhaps
	}
	r.mu.Unlock()
	if again {
		ctx, cancel := context.WithTimeout(ctx, r.o.ClaimLimit)
		defer cancel()
		_ = r.look(ctx, s, r.lookUp(s))
	}
}

// firstContext is what an armed session's prompt is given: identity and
// memories, and what its own words bring to mind. If the fetch has not ended in
// time, the local identity files.
func (r *Relay) firstContext(ctx context.Context, h *heldPrompt, f *fetch) (insert, bool) {
	s := h.session
	if f == nil {
		return insert{}, false
	}
	inTime := wait(ctx, h, f.done)
	switch {
	case h.gaveUp():
		return insert{}, false
	case inTime && f.err == nil:
		in, ok := r.compose(kindContext, h, f.got, r.recalled(ctx, h))
		if !ok && !h.gaveUp() {
			r.finish(s) // the sources have answered, and there is nothing to tell
		}
		in.fetch = f
		return in, ok
	case inTime && errors.Is(f.err, memory.ErrOwned):
		r.finish(s)
		return insert{}, false
	}
	b := r.journal.ready(ctx)
	if b == nil {
		return insert{}, false
	}
	r.mu.Lock()
	who := s.who
	r.mu.Unlock()
	return r.compose(kindIdentity, h, b.Memory.Identity(who), memory.Context{})
}

// rest is what a session gets that had only identity in time, once it is
// there. One that had identity in its system prompt has not waited yet, and does so once. What an older daemon says cannot be taken apart and goes in whole.
func (r *Relay) rest(ctx context.Context, h *heldPrompt, f *fetch) (in insert, ok bool) {
	s := h.session
	r.mu.Lock()
	patient := s.placed
	s.placed = false
	r.mu.Unlock()
	if f == nil || !f.finished() && !(patient && wait(ctx, h, f.done)) {
		return in, false
	}
	if f.err == nil {
		memories := memory.Context{Source: f.got.Source, Took: f.got.Took, Mixed: f.got.Mixed, Notes: f.got.Notes, Items: f.got.Items}
		in, ok = r.compose(kindMemories, h, memories, r.recalled(ctx, h))
		in.fetch = f
	}
	if !ok && !h.gaveUp() {
		r.finish(s)
	}
	return in, ok
}

// sameAgain gives the text that may or may not have reached the harness.
func (r *Relay) sameAgain(s *session) (insert, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sent, ok := s.last()
	return insert{kind: sent.Kind, source: sent.Source, block: memory.Block{ID: sent.BlockID, Hash: sent.BlockID, Text: sent.Text, Items: sent.Items}}, ok
}

// recalled waits for what the prompt's words brought to mind.
func (r *Relay) recalled(ctx context.Context, h *heldPrompt) memory.Context {
	if h.recall != nil && wait(ctx, h, h.recall.done) {
		return h.recall.got
	}
	return memory.Context{}
}

// compose makes the block of what there is to tell; ok is false when that is nothing.
func (r *Relay) compose(kind string, h *heldPrompt, start, recall memory.Context) (in insert, ok bool) {
	style := memory.Style{Kind: memory.KindContext}
	if kind == kindRecall {
		style.Kind = memory.KindRecall
	}
	r.mu.Lock()
	style.ToolHint = r.hints()
	r.mu.Unlock()
	in = insert{kind: kind, source: start.Source, took: start.Took}
	in.block, ok = memory.Compose(h.session.id, start, recall, style)
	if in.source == "" {
		in.source = recall.Source
	}
	return in, ok
}

// hints reports whether blocks name the memory tool. The relay's lock is held.
func (r *Relay) hints() bool {
	return r.o.MCPServer != nil && r.o.ToolHint != nil && r.o.ToolHint(r.agent.name)
}

// finish marks a session as having had all that there is for it.
func (r *Relay) finish(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.become(correlation.Done)
	r.journal.nudge()
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
func (r *Relay) claim(h *heldPrompt, in insert, from correlation.State) (claimed, changed bool) {
	s := h.session
	ctx, cancel := context.WithDeadline(r.ctx, h.read.Add(r.o.HoldLimit))
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, r.o.ClaimLimit)
	defer stop()
	now := r.o.Now()
	entry := correlation.Injection{
		Kind: in.kind, BlockID: in.block.ID, Text: in.block.Text, Source: in.source, Bytes: len(in.block.Text),
		FetchMS: in.took.Milliseconds(), HeldMS: now.Sub(h.read).Milliseconds(), Items: in.block.Items, At: now,
	}
	var fate atomic.Int32
	err := r.journal.ask(ctx, func(ctx context.Context, l Ledger) error {
		r.mu.Lock()
		entry.Session, entry.Key = s.row, s.who.Key
		r.mu.Unlock()
		if entry.Session == 0 {
			return correlation.ErrNotFound
		}
		process := r.journal.backend.Process
		_, err := l.Claim(ctx, entry.Session, []correlation.State{from}, process, entry)
		if err == nil && !fate.CompareAndSwap(claimOpen, claimTaken) {
			r.mu.Lock()
			defer r.mu.Unlock()
			s.owe("take back", func(ctx context.Context, l Ledger, row int64) error { return l.Settle(ctx, row, process, from) })
		}
		return err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil || !fate.CompareAndSwap(claimOpen, claimGivenUp) {
		s.state, s.sent = correlation.InFlight, true
		s.claims++
		s.gave(entry)
		s.seen = append(s.seen, in.block.Items...)
		if in.fetch != nil {
			r.use(in.fetch)
		}
		return true, false
	}
	r.o.Log.Info().Err(err).Str("session", s.label()).Msg("the session was not claimed")
	changed = errors.Is(err, correlation.ErrStateChanged)
	s.unsure = s.unsure || changed
	return false, changed
}

// wait waits for c, for no longer than ctx and the prompt's patience.
func wait(ctx context.Context, h *heldPrompt, c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
	}
	select {
	case <-c:
		return true
	case <-h.cancelled:
	case <-ctx.Done():
	}
	return false
}
