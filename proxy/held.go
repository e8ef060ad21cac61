package proxy

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A heldPrompt is a prompt that waits in the queue for its context.
type heldPrompt struct {
	*env
	prompt *session.Held
	line   []byte // the frame as the client sent it; nil once it was resolved
	size   int    // of line
	read   time.Time
}

// Size is that of the client's frame.
func (h *heldPrompt) Size() int { return h.size }

// Resolve waits for the context, and returns the prompt with the block in front, or as the client sent it.
func (h *heldPrompt) Resolve() (parts [][]byte, forwarded func()) {
	parts = [][]byte{h.line}
	var in *session.Injection
	h.talk.Do(func(c *session.Connection) { parts, in = c.Release(h.prompt) })
	h.logLeft(in)
	h.line = nil // it may be large, and is not needed any more
	return parts, func() {
		if h.size > largePrompt {
			h.tasks.run("giving memory back", giveBack)
		}
	}
}

func (h *heldPrompt) logLeft(in *session.Injection) {
	s := h.prompt.Session()
	if in == nil && s.Known().Off {
		return
	}
	log := h.o.Log.Info().Str("session", s.Label()).Dur("held", h.o.Now().Sub(h.read))
	if in != nil {
		log = log.Str("kind", in.Kind).Str("source", in.Source).Int("bytes", in.Bytes)
	}
	log.Bool("injected", in != nil).Msg("prompt")
}

// giveBack returns the memory of a large prompt to the system; the runtime would keep it for minutes. It tries again
// while the harness is still reading the prompt, or its words are still to be recorded.
func giveBack(ctx context.Context) {
	var stats runtime.MemStats
	for after := giveBackAfter; after <= giveBackLast; after *= 2 {
		timer := time.NewTimer(after)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		debug.FreeOSMemory()
		if runtime.ReadMemStats(&stats); stats.HeapAlloc < largeHeap {
			return
		}
	}
}

const (
	giveBackAfter = time.Second
	giveBackLast  = 32 * time.Second
	largeHeap     = 8 << 20 // bytes: an idle relay has 3 MB
)
