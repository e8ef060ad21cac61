package proxy

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// An injector does for held prompts what they need, until they leave: which step follows which is decided in package
// session.
type injector struct {
	*env
	database *database
	finder   *finder
}

// inject returns a prompt with its block in front, or as it came, and how it leaves.
func (j *injector) inject(h *heldPrompt) (parts [][]byte, leaves session.Step) {
	ctx, stop := j.database.unlessLocked(j.ctx)
	defer stop()
	parts = [][]byte{h.line}
	waits := session.PromptWaits{Prompt: h.prompt}
	for do, news := j.talk.look(waits); ; {
		next, seen := do.Prompt, session.Seen(waits)
		guard.Point("held prompt")
		switch next.Need {
		case session.Wait:
			seen = session.PromptWaits{Prompt: h.prompt, GivenUp: !j.wait(ctx, next, news)}
		case session.LookAgain:
			j.within(ctx, next, func(ctx context.Context) { j.finder.lookUp(ctx, next.Lookup) })
		case session.Continue:
			found := session.ContinuedFound{Prompt: h.prompt}
			j.within(ctx, next, func(ctx context.Context) { found.Text = j.continued(ctx, h.session, next.Behind) })
			seen = found
		case session.Compose:
			seen = session.Composed{Prompt: h.prompt, Injection: j.compose(h, next)}
		case session.Claim:
			edited, ok := frame.PrependParts(h.line, next.Injection.Block.JSON(), "params", "prompt")
			if ok {
				parts = edited
			}
			j.within(ctx, next, func(ctx context.Context) { do = j.claim(ctx, h, next, ok) })
			continue
		case session.Leave:
			if next.Injection == nil {
				parts = [][]byte{h.line}
			}
			return parts, next
		}
		do, news = j.talk.look(seen)
	}
}

// within does what a prompt needs, no longer than it may take.
func (j *injector) within(ctx context.Context, next session.Step, f func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, next.Until.Sub(j.o.Now()))
	defer cancel()
	f(ctx)
}

// wait waits for news, no longer than the prompt may. It reports false if the prompt waits for nothing any more.
func (j *injector) wait(ctx context.Context, next session.Step, news <-chan struct{}) bool {
	timer := time.NewTimer(next.Until.Sub(j.o.Now()))
	defer timer.Stop()
	select {
	case <-news:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// continued returns how the conversation ended that a session continues; "" if it continues none, or was told before.
// If the database does not answer before ctx ends the prompt goes without it.
func (j *injector) continued(ctx context.Context, s *session.Session, first int) string {
	text := ""
	err := j.database.ask(ctx, first, func(ctx context.Context, b *Backend) error {
		if b.Continued == nil {
			return nil
		}
		row, err := j.talk.events.Row(ctx, s.Number())
		if err == nil {
			text, err = b.Continued(ctx, row, j.hello().Name)
		}
		return err
	})
	if err != nil {
		j.o.Log.Info().Err(err).Str("session", s.Label()).Msg("what the session continues")
		return ""
	}
	return text
}

// compose makes the block of a prompt, nil if it would say nothing.
func (j *injector) compose(h *heldPrompt, next session.Step) *session.Injection {
	start := next.Start
	if next.Local {
		b := j.database.now()
		if b == nil {
			return nil
		}
		start = b.Memory.Identity(next.Who)
	}
	style := memory.Style{Kind: memory.KindContext, ToolHint: j.toolHint(next.Mode)}
	if next.Kind == session.KindRecall {
		style.Kind = memory.KindRecall
	}
	start.Continued = next.Continued
	block, ok := memory.Compose(h.session.ID(), start, next.Recall, style)
	if !ok {
		return nil
	}
	in := &session.Injection{Block: block, Took: start.Took}
	in.Kind, in.Source = next.Kind, start.Source
	if in.Source == "" {
		in.Source = next.Recall.Source
	}
	return in
}

// errNotSpliced: nothing can come in front of the prompt after all.
var errNotSpliced = errors.New("the prompt takes no block")

// claim moves the session to in flight and records the injection, in one transaction that only one proxy can win. If
// the ledger does not answer in time the prompt goes as it came and the session stays as it is.
func (j *injector) claim(ctx context.Context, h *heldPrompt, next session.Step, spliced bool) session.Do {
	ctx = sqlite.WithLockWait(ctx, j.o.ClaimLimit)
	entry, claimed, granted := next.Injection.Injection, false, session.Do{}
	err := j.database.ask(ctx, next.Behind, func(ctx context.Context, b *Backend) error {
		if !spliced {
			return errNotSpliced
		}
		row, err := j.talk.events.Row(ctx, h.session.Number())
		if err != nil {
			return err
		}
		from := []correlation.State{next.From}
		if _, err = b.Ledger.Claim(ctx, row, from, j.talk.events.Process(), entry); err != nil {
			return err
		}
		claimed = true
		guard.Point("claim")
		granted = j.talk.see(session.Claimed{Prompt: h.prompt}) // also if nobody waits for it any more
		return nil
	})
	if err == nil {
		return granted
	}
	j.o.Log.Info().Err(err).Str("session", h.session.Label()).Msg("the session was not claimed")
	refused := j.talk.see(session.Claimed{Prompt: h.prompt, Err: err})
	if errors.Is(err, guard.ErrPanicked) && claimed { // taken back, like one that comes too late
		j.talk.see(session.Claimed{Prompt: h.prompt})
	}
	return refused
}

// A heldPrompt is a prompt that waits in the queue for its context.
type heldPrompt struct {
	*injector
	prompt  *session.Held
	session *session.Session
	line    []byte // the frame as the client sent it; nil once it was resolved
	size    int    // of line
	read    time.Time
}

// Size is that of the client's frame.
func (h *heldPrompt) Size() int { return h.size }

// Resolve waits for the context, and returns the prompt with the block in front, or as the client sent it.
func (h *heldPrompt) Resolve() (parts [][]byte, forwarded func()) {
	parts = [][]byte{h.line}
	left := guard.Run("held prompt", func() {
		edited, left := h.inject(h)
		parts = edited
		h.logLeft(left)
	})
	if !left {
		guard.Run("held prompt", func() { h.talk.see(session.PromptWaits{Prompt: h.prompt, GivenUp: true}) })
	}
	h.line = nil // it may be large, and is not needed any more
	return parts, func() {
		if h.size > largePrompt {
			h.tasks.run("giving memory back", giveBack)
		}
	}
}

func (h *heldPrompt) logLeft(left session.Step) {
	if left.Off {
		return
	}
	log := h.o.Log.Info().Str("session", h.session.Label()).Dur("held", h.o.Now().Sub(h.read))
	if in := left.Injection; in != nil {
		log = log.Str("kind", in.Kind).Str("source", in.Source).Int("bytes", in.Bytes)
	}
	log.Bool("injected", left.Injection != nil).Msg("prompt")
}

// giveBack returns the memory of a large prompt to the system; the runtime would keep it for minutes.
func giveBack(ctx context.Context) {
	timer := time.NewTimer(giveBackAfter)
	defer timer.Stop()
	select {
	case <-timer.C:
		debug.FreeOSMemory()
	case <-ctx.Done():
	}
}

const giveBackAfter = time.Second
