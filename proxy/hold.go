package proxy

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A heldPrompt is a prompt that waits in the queue for its context.
type heldPrompt struct {
	*env
	inject func(*heldPrompt) ([][]byte, *session.Injection) // injector.inject

	line    []byte // the frame as the client sent it; nil once it was resolved
	size    int    // of line
	key     string // the request's id (idKey)
	session *session.Session
	turn    *session.Turn
	words   string
	read    time.Time // when the frame was read: the deadline runs from here

	recall    chan memory.Context // 1-buffered, gets what memory finds for words; nil: nothing is looked for
	once      sync.Once
	cancelled chan struct{}
}

// Size is that of the client's frame.
func (h *heldPrompt) Size() int { return h.size }

// Cancel ends the wait: the prompt goes out as it came.
func (h *heldPrompt) Cancel() { h.once.Do(func() { close(h.cancelled) }) }

// Resolve waits for the context, and returns the prompt with the block in front, or as the client sent it.
func (h *heldPrompt) Resolve() (parts [][]byte, forwarded func()) {
	s := h.session
	parts = [][]byte{h.line}
	var in *session.Injection
	guard.Run("held prompt", func() { parts, in = h.inject(h) })
	h.line = nil // it may be large, and is not needed any more
	waited := h.o.Now().Sub(h.read)
	guard.Run("held prompt", func() { h.leaves(in, waited) })
	return parts, func() {
		if h.size > largePrompt {
			h.tasks.run("giving memory back", giveBack)
		}
		guard.Run("held prompt", func() { h.table.Update(func(c *session.Connection) { c.Touch(s) }) })
	}
}

// leaves notes that the prompt is about to leave, and with what.
func (h *heldPrompt) leaves(in *session.Injection, waited time.Duration) {
	s, off := h.session, false
	h.table.Update(func(c *session.Connection) {
		s.Release()
		if off = s.Off && in == nil; off { // switched off while it was held
			return
		}
		c.PromptForwarded(h.turn)
		c.Await(h.key, session.Request{Method: methodPrompt, Session: s, Injection: in, Turn: h.turn})
	})
	if off {
		return
	}
	log := h.o.Log.Info().Str("session", s.Label()).Dur("held", waited)
	if in != nil {
		log = log.Str("kind", in.Kind).Str("source", in.Source).Int("bytes", in.Bytes)
	}
	log.Bool("injected", in != nil).Msg("prompt")
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

// isCancelled reports whether the client has cancelled the prompt.
func (h *heldPrompt) isCancelled() bool {
	select {
	case <-h.cancelled:
		return true
	default:
		return false
	}
}

// wait waits until c is closed, and reports whether it was. It gives up when ctx ends or the prompt is cancelled.
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
