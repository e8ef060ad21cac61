package session

import (
	"context"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// handle does what a message says, and then what follows from it.
func (c *Connection) handle(m message) {
	defer close(m.handled)
	m.handle(c)
	c.finish()
}

// meanwhile handles a message while a held prompt waits, which a panic there does not concern.
func (c *Connection) meanwhile(m message) { guard.Run("sessions", func() { c.handle(m) }) }

// finish begins the fetches of the sessions that have changed, publishes what is known of them, and tells those who
// wait for it.
func (c *Connection) finish() {
	c.beginFetches()
	for _, s := range c.changed {
		s.publish()
	}
	clear(c.changed)
	c.changed = c.changed[:0]
	c.waiters = slices.DeleteFunc(c.waiters, func(w *waiter) bool {
		ready := w.ready(c)
		if ready {
			close(w.done)
		}
		return ready
	})
}

// until handles what comes until something is so, and reports false if ctx ends first.
func (c *Connection) until(ctx context.Context, ready func() bool) bool {
	for !ready() {
		select {
		case m := <-c.inbox:
			c.meanwhile(m)
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// await handles what comes until an answer does, and reports false if ctx ends first.
func await[T any](ctx context.Context, c *Connection, answer <-chan T) (said T, ok bool) {
	for {
		select {
		case said = <-answer:
			return said, true
		case m := <-c.inbox:
			c.meanwhile(m)
		case <-ctx.Done():
			return said, false
		}
	}
}
