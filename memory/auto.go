package memory

import (
	"context"
	"errors"
	"time"
)

// Auto asks the daemon and, where that fails, the embedded store. Nobody is told of the failure: an agent that knows
// less is better than a prompt that waits. Either may be nil. Errors are the embedded store's, except for ErrOwned and
// a cancelled context, after which the store is not asked.
type Auto struct{ Daemon, Embedded Source }

// grace is how long the embedded store's Start may take once the daemon has used up the context's deadline.
const grace = time.Second

var _ Source = Auto{}

// Start implements Source. Where the daemon gave nothing and its start of the key is in doubt (ErrKeySpent), the
// embedded store's context comes with KeySpent set, and without an error.
func (a Auto) Start(ctx context.Context, s Session) (Context, error) {
	spent := false
	if a.Daemon != nil {
		c, err := a.Daemon.Start(ctx, s)
		spent = errors.Is(err, ErrKeySpent)
		switch {
		case err == nil, spent && !c.Empty():
			c.KeySpent = c.KeySpent || spent
			return c, nil
		case errors.Is(err, ErrOwned), errors.Is(ctx.Err(), context.Canceled), a.Embedded == nil:
			return Context{}, err
		}
	}
	if a.Embedded == nil {
		return Context{}, ErrUnavailable
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
	}
	c, err := a.Embedded.Start(ctx, s)
	c.KeySpent = spent
	return c, err
}

// Recall implements Source. A prompt waits for it, so the embedded store gets no time past the context's deadline.
func (a Auto) Recall(ctx context.Context, s Session, prompt string, seen []string) (Context, error) {
	if a.Daemon != nil {
		c, err := a.Daemon.Recall(ctx, s, prompt, seen)
		if err == nil || errors.Is(err, ErrOwned) || ctx.Err() != nil || a.Embedded == nil {
			return c, err
		}
	}
	if a.Embedded == nil {
		return Context{}, ErrUnavailable
	}
	return a.Embedded.Recall(ctx, s, prompt, seen)
}
