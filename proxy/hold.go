package proxy

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

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
