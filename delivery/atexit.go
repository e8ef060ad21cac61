package delivery

import (
	"context"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// End waits for what runs, delivers with AtExit, and lets the workers begin. It is the last use of the database by this
// process.
func (h *Dispatcher) End() {
	h.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), h.limit)
	defer cancel()
	done := make(chan struct{})
	guard.Go("hand-over's end", func() {
		defer close(done)
		h.tasks.Wait()
	})
	select {
	case <-done:
	case <-ctx.Done(): // another process has the database locked; what still waits for it ends with this process
	}
	if h.Worker.Retention.Keep == 0 { // where nothing is to be delivered no worker does it
		guard.Run("old turns", func() { h.Worker.expire(ctx) })
	}
	if h.AtExit > 0 {
		guard.Run("delivery", h.deliverAtExit)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.leaving {
		f.Close()
	}
}

// deliverAtExit delivers what is due before we exit.
func (h *Dispatcher) deliverAtExit() {
	ctx, cancel := context.WithTimeout(context.Background(), h.AtExit)
	defer cancel()
	if due, _ := h.due(ctx); !due {
		return
	}
	if _, err := h.Worker.Run(ctx, UntilQuiet); err != nil {
		h.Worker.Log.Warn().Err(err).Msg("delivering before the exit")
	}
}
