package session

import (
	"context"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// askLimit is how long a frame waits until the goroutine takes what it has to know. It takes microseconds: nothing that
// the goroutine does waits, but for a held prompt, and that handles what comes meanwhile.
const askLimit = 1 * time.Second

// An Owner is the goroutine that owns the sessions of a connection. Forks, continued loads and requests concern two of
// them, so there is one for all. Nobody else reads or changes what is theirs: it comes to the goroutine in order (Do),
// or is published (Session.Known).
type Owner struct {
	c     *Connection
	stop  context.CancelFunc
	ended chan struct{}
}

// Own begins the goroutine that owns a new connection. End must follow.
func Own(o Options, b Beside) *Owner {
	ctx, stop := context.WithCancel(context.Background())
	w := &Owner{c: newConnection(o, b), stop: stop, ended: make(chan struct{})}
	guard.Go("sessions", func() {
		defer close(w.ended)
		w.c.until(ctx, func() bool { return false })
	})
	return w
}

// End ends the goroutine, and joins it.
func (w *Owner) End() {
	w.stop()
	<-w.ended
}

// Do has the goroutine do something for a frame, and waits for that. It reports false if it was not done.
func (w *Owner) Do(f func(*Connection)) bool {
	timer := time.NewTimer(askLimit)
	defer timer.Stop()
	return w.send(f, timer.C)
}

// Tell is Do for what comes from beside the conversation: no frame waits for it, and nothing of it may be lost, so it
// waits until the goroutine has time. It reports false if that has ended.
func (w *Owner) Tell(f func(*Connection)) bool { return w.send(f, nil) }

func (w *Owner) send(f func(*Connection), late <-chan time.Time) bool {
	handled := make(chan struct{})
	handle := func() {
		defer close(handled)
		guard.Run("sessions", func() { // a panic ends that, and nothing else
			f(w.c)
			w.c.finish()
		})
	}
	select {
	case w.c.inbox <- handle:
		<-handled
		return true
	case <-w.ended:
		return false
	case <-late:
		return false
	}
}

// Await waits until something is so, and reports false if ctx ends first. ready is asked by the goroutine, at once and
// whenever something has come.
func (w *Owner) Await(ctx context.Context, ready func(*Connection) bool) bool {
	is := make(chan struct{})
	w.Do(func(c *Connection) { c.waiters[is] = ready }) // which asks it
	select {
	case <-is:
	case <-w.ended:
	case <-ctx.Done():
		w.Do(func(c *Connection) { delete(c.waiters, is) })
	}
	select {
	case <-is: // also if ctx has ended meanwhile, or before
		return true
	default:
		return false
	}
}

// TurnChanges grows with each change that may give the agent's next words to another turn. Whoever has looked a turn up
// may use it without asking again as long as this number is the same.
func (w *Owner) TurnChanges() uint64 { return w.c.turnChanges.Load() }

// until is where the goroutine waits, also for a held prompt: it handles what comes until something is so, and reports
// false if ctx ends first.
func (c *Connection) until(ctx context.Context, ready func() bool) bool {
	for !ready() {
		select {
		case handle := <-c.inbox:
			handle()
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// finish begins what the sessions need that have changed, publishes what is known of them, and tells those who wait for
// it.
func (c *Connection) finish() {
	for _, s := range c.changed {
		c.begin(s)
		s.publish()
	}
	clear(c.changed)
	c.changed = c.changed[:0]
	for is, ready := range c.waiters {
		if ready(c) {
			delete(c.waiters, is)
			close(is)
		}
	}
}
