package proxy

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A heldPrompt is a prompt that waits for its context: a frame that the queue holds.
type heldPrompt struct {
	*env
	inject func(*heldPrompt) ([][]byte, *session.Injection) // gives it its context

	line    []byte // as the client sent it, until it leaves
	size    int
	key     string // the request's id
	session *session.Session
	turn    *session.Turn
	words   string
	read    time.Time // when it was read: its time runs from here

	recall    chan memory.Context // what its own words bring to mind; nil when nothing is looked for
	once      sync.Once
	cancelled chan struct{}
}

// Size is the prompt's own.
func (h *heldPrompt) Size() int { return h.size }

// Cancel ends the wait: the prompt goes out as it came.
func (h *heldPrompt) Cancel() { h.once.Do(func() { close(h.cancelled) }) }

// Resolve waits for the context. It gives the prompt with that in front, or as the client sent it.
func (h *heldPrompt) Resolve() (parts [][]byte, forwarded func()) {
	s := h.session
	parts, in := h.inject(h)
	h.line = nil // it may be large, and is not needed any more
	waited := h.o.Now().Sub(h.read)
	off := false
	h.table.Update(func(c *session.Connection) {
		s.Release()
		if off = s.Off && in == nil; off { // as has turned out meanwhile
			return
		}
		c.PromptForwarded(h.turn)
		c.Await(h.key, session.Request{Method: methodPrompt, Session: s, Injection: in, Turn: h.turn})
	})
	if !off {
		log := h.o.Log.Info().Str("session", s.Label()).Dur("held", waited)
		if in != nil {
			log = log.Str("kind", in.Kind).Str("source", in.Source).Int("bytes", in.Bytes)
		}
		log.Bool("injected", in != nil).Msg("prompt")
	}
	return parts, func() {
		h.table.Update(func(c *session.Connection) { c.Touch(s) })
		if h.size > largePrompt {
			h.tasks.run(giveBack)
		}
	}
}

// giveBack gives the memory of a large prompt back to the system, which the runtime would keep for minutes.
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

// gaveUp reports whether the wait was ended.
func (h *heldPrompt) gaveUp() bool {
	select {
	case <-h.cancelled:
		return true
	default:
		return false
	}
}

// wait waits for c, for no longer than ctx and until the prompt is cancelled.
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
