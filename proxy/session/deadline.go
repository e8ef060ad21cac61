package session

import (
	"context"
	"time"
)

const (
	recallLimit = 300 * time.Millisecond // a prompt of a session that has its context is held no longer
	claimTime   = 100 * time.Millisecond // of what a prompt is held at most, kept for the claim
)

// AskTime is how long after a prompt was read it waits for what it is to carry, if it is held for hold at most.
func AskTime(hold time.Duration) time.Duration { return hold - min(claimTime, hold/4) }

// within returns a context that ends so long after the prompt was read, or with ctx.
func (p *Held) within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, p.Read.Add(limit))
}
