// Package pace keeps work that nobody waits for out of the conversation's way: for each moment that it takes it rests
// for nine, so that it has a tenth of a core.
package pace

import (
	"context"
	"time"
)

const (
	share = 9
	most  = 250 * time.Millisecond // at a time
)

// Rest is how long work rests that took so long.
func Rest(took time.Duration) time.Duration { return min(share*took, most) }

type gentle struct{}

// Gently returns a context for work that nobody waits for. In any other, Pause does nothing.
func Gently(ctx context.Context) context.Context { return context.WithValue(ctx, gentle{}, true) }

// Gentle reports whether nobody waits for the work that a context is for.
func Gentle(ctx context.Context) bool { return ctx.Value(gentle{}) != nil }

// Pause lets work that began at a time rest, in a context of Gently, until that ends.
func Pause(ctx context.Context, began time.Time) {
	if !Gentle(ctx) {
		return
	}
	select {
	case <-time.After(Rest(time.Since(began))):
	case <-ctx.Done():
	}
}
