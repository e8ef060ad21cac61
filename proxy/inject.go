package proxy

import (
	"context"
	"errors"
	"sync"
	"time"

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

	recall    chan memory.Context // gets one value
	once      sync.Once
	cancelled chan struct{}
}

// cancel ends the wait: the prompt goes out as it came.
func (h *heldPrompt) cancel() { h.once.Do(func() { close(h.cancelled) }) }

// beginRecall starts to look for what the prompt's own words bring to mind, beside the session's context.
func (r *Relay) beginRecall(h *heldPrompt) {
	h.recall = make(chan memory.Context, 1)
	limit := r.o.HoldLimit - claimLimit
	r.task(func(ctx context.Context) {
		ctx, cancel := context.WithDeadline(ctx, h.read.Add(limit))
		defer cancel()
		h.recall <- r.recall(ctx, h.session, h.words)
	})
}

// resolve ends a prompt's wait. It gives the prompt with its context in
// front, or as the client sent it; forwarded is to be called once it has left.
func (r *Relay) resolve(h *heldPrompt) (line []byte, forwarded func()) {
	s := h.session
	in, back, ok := r.choose(h)
	var g *grant
	line = h.line
	if ok && r.claim(h, in, back) {
		if edited, spliced := frame.Prepend(h.line, in.block.JSON(), "params", "prompt"); spliced {
			line, g = edited, &grant{kind: in.kind, back: back}
		}
	}
	waited := r.o.Now().Sub(h.read)
	r.mu.Lock()
	s.prompts-- // counted when it was held; expect counts it again
	if g != nil {
		s.state = correlation.InFlight
		s.blocks = append(s.blocks, in.block.Text)
		s.seen = append(s.seen, in.block.Items...)
	}
	t := r.expect(s, h.id, g)
	r.hear(t, h.line)
	r.mu.Unlock()
	log := r.o.Log.Info().Str("session", s.id).Dur("held", waited)
	if g != nil {
		log = log.Str("kind", in.kind).Str("source", in.source).Int("bytes", len(in.block.Text))
	}
	log.Bool("injected", g != nil).Msg("prompt")
	return line, r.journal.nudge
}

// An insert is what a prompt is to be given.
type insert struct {
	kind   string
	block  memory.Block
	source string
	took   time.Duration
}

// choose waits, no longer than the prompt may be held, and decides what goes
// in. back is the state that the session has now.
func (r *Relay) choose(h *heldPrompt) (in insert, back correlation.State, ok bool) {
	s := h.session
	ctx, cancel := context.WithDeadline(r.ctx, h.read.Add(r.o.HoldLimit-claimLimit))
	defer cancel()
	if !wait(ctx, h, s.ready) {
		return in, "", false
	}
	r.mu.Lock()
	r.settleDoubt(s)
	state, fetch := s.state, s.context
	r.mu.Unlock()
	switch state {
	case correlation.Armed:
		return r.firstContext(ctx, h, fetch)
	case correlation.Doubt:
		in, ok = r.sameAgain(ctx, s)
		return in, state, ok
	case correlation.IdentityGiven:
		if fetch == nil || !fetch.finished() {
			return in, state, false
		}
		if fetch.err != nil {
			r.finish(s)
			return in, state, false
		}
		rest := memory.Context{Source: fetch.got.Source, Notes: fetch.got.Notes, Items: fetch.got.Items}
		in = r.compose(kindMemories, h, rest, r.recalled(ctx, h))
		return in, state, in.block.Text != ""
	case correlation.Done:
		if !r.o.PerPrompt || len([]rune(h.words)) < minRecallWords {
			return in, state, false
		}
		limit, stop := context.WithDeadline(ctx, h.read.Add(recallLimit))
		defer stop()
		in = r.compose(kindRecall, h, memory.Context{}, r.recalled(limit, h))
		return in, state, in.block.Text != ""
	}
	return in, state, false
}

const (
	recallLimit    = 300 * time.Millisecond // a later prompt is held no longer for recall
	minRecallWords = 20                     // characters; shorter prompts bring nothing to mind
)

// firstContext is what an armed session's prompt is given: identity and
// memories, and what its own words bring to mind. If the fetch has not ended in
// time, the local identity files.
func (r *Relay) firstContext(ctx context.Context, h *heldPrompt, f *fetch) (insert, correlation.State, bool) {
	s := h.session
	inTime := wait(ctx, h, f.done)
	select {
	case <-h.cancelled:
		return insert{}, correlation.Armed, false
	default:
	}
	if inTime && f.err == nil {
		in := r.compose(kindContext, h, f.got, r.recalled(ctx, h))
		if in.block.Text == "" {
			r.finish(s) // the sources have answered, and there is nothing to tell
		}
		return in, correlation.Armed, in.block.Text != ""
	}
	if inTime && errors.Is(f.err, memory.ErrOwned) {
		r.finish(s)
		return insert{}, correlation.Armed, false
	}
	b := r.journal.ready(ctx)
	if b == nil {
		return insert{}, correlation.Armed, false
	}
	r.mu.Lock()
	who := s.who
	r.mu.Unlock()
	in := r.compose(kindIdentity, h, b.Memory.Identity(who), memory.Context{})
	return in, correlation.Armed, in.block.Text != ""
}

// sameAgain gives the text that may or may not have reached the harness.
func (r *Relay) sameAgain(ctx context.Context, s *session) (in insert, ok bool) {
	r.mu.Lock()
	row := s.row
	r.mu.Unlock()
	err := r.journal.ask(ctx, func(ctx context.Context, l Ledger) error {
		given, err := l.Injections(ctx, row)
		for _, g := range given {
			if g.Kind == kindContext || g.Kind == kindIdentity {
				in = insert{kind: g.Kind, source: g.Source, block: memory.Block{ID: g.BlockID, Text: g.Text, Items: g.Items}}
				break
			}
		}
		return err
	})
	return in, err == nil && in.block.Text != ""
}

// recalled waits for what the prompt's words brought to mind.
func (r *Relay) recalled(ctx context.Context, h *heldPrompt) memory.Context {
	select {
	case c := <-h.recall:
		return c
	case <-h.cancelled:
	case <-ctx.Done():
	}
	return memory.Context{}
}

func (r *Relay) compose(kind string, h *heldPrompt, start, recall memory.Context) insert {
	style := memory.Style{Kind: memory.KindContext}
	if kind == kindRecall {
		style.Kind = memory.KindRecall
	}
	r.mu.Lock()
	agent := r.agent.name
	r.mu.Unlock()
	style.ToolHint = r.o.MCPServer != nil && r.o.ToolHint != nil && r.o.ToolHint(agent)
	block, ok := memory.Compose(h.session.id, start, recall, style)
	if !ok {
		return insert{kind: kind}
	}
	source := start.Source
	if source == "" {
		source = recall.Source
	}
	return insert{kind: kind, block: block, source: source, took: start.Took}
}

// finish marks a session as having had all that there is for it.
func (r *Relay) finish(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := s.state
	s.state = correlation.Done
	s.owe("nothing to tell", func(ctx context.Context, l Ledger, row int64) error {
		return l.SetState(ctx, row, []correlation.State{from}, correlation.Done)
	})
}

// claim moves the session to in flight and writes the injection, in one step
// that only one proxy can take. Where the ledger does not answer in time the
// prompt goes as it came and the session stays as it is.
func (r *Relay) claim(h *heldPrompt, in insert, from correlation.State) bool {
	s := h.session
	ctx, cancel := context.WithDeadline(r.ctx, h.read.Add(r.o.HoldLimit))
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, claimLimit)
	defer stop()
	now := r.o.Now()
	err := r.journal.ask(ctx, func(ctx context.Context, l Ledger) error {
		r.mu.Lock()
		row, key := s.row, s.who.Key
		r.mu.Unlock()
		if row == 0 {
			return correlation.ErrNotFound
		}
		_, err := l.Claim(ctx, row, []correlation.State{from}, r.journal.backend.Process, correlation.Injection{
			Session: row, Key: key, Kind: in.kind, BlockID: in.block.ID, Text: in.block.Text, Source: in.source,
			Bytes: len(in.block.Text), FetchMS: in.took.Milliseconds(), HeldMS: now.Sub(h.read).Milliseconds(),
			Items: in.block.Items, At: now,
		})
		if err == nil && ctx.Err() != nil { // claimed too late: the prompt has left without it
			return l.Settle(context.WithoutCancel(ctx), row, r.journal.backend.Process, from)
		}
		return err
	})
	if err != nil {
		r.o.Log.Info().Err(err).Str("session", s.id).Msg("the session was not claimed; the prompt goes as it came")
		r.refresh(s)
		return false
	}
	return true
}

// refresh takes over the state that another proxy has brought the session to.
func (r *Relay) refresh(s *session) {
	r.mu.Lock()
	harness, id := r.harness(), s.id
	r.mu.Unlock()
	r.task(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, entryLimit)
		defer cancel()
		_ = r.journal.ask(ctx, func(ctx context.Context, l Ledger) error {
			known, err := l.Find(ctx, harness, id)
			if err != nil {
				return err
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if known.State == correlation.Done || known.State == correlation.Off {
				s.state = known.State
			}
			return nil
		})
	})
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
