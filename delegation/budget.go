package delegation

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// A Budget limits a delegation; zero means no limit.
type Budget struct {
	Turns   int     `json:"turns,omitempty"`   // calls of the model: one, and one more for each tool call
	Tokens  int64   `json:"tokens,omitempty"`  // as far as the agent reports them
	Cost    float64 `json:"cost,omitempty"`    // in the currency that the agent reports
	Seconds int     `json:"seconds,omitempty"` // wall-clock time
}

const (
	// DefaultTime limits a delegation that names no time, maxTime any.
	DefaultTime = 30 * time.Minute
	maxTime     = 24 * time.Hour
)

// check refuses a budget that is none, and puts the default time in place.
func (b *Budget) check() error {
	switch {
	case b.Turns < 0 || b.Tokens < 0 || !(b.Cost >= 0) || b.Seconds < 0:
		return errors.New("a budget must not be negative: omit what has no limit")
	case b.Seconds > int(maxTime.Seconds()):
		return fmt.Errorf("a delegation may run %v at most: use fewer seconds", maxTime)
	case b.Seconds == 0:
		b.Seconds = int(DefaultTime.Seconds())
	}
	return nil
}

// within returns b with no limit looser than outer's.
func (b Budget) within(outer Budget) Budget {
	return Budget{smaller(b.Turns, outer.Turns), smaller(b.Tokens, outer.Tokens), smaller(b.Cost, outer.Cost),
		smaller(b.Seconds, outer.Seconds)}
}

// smaller returns the smaller one of two limits, where 0 is no limit.
func smaller[T int | int64 | float64](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Usage is what a delegation has used; nil is not reported.
type Usage struct {
	Turns    int      `json:"turns"`
	Tokens   *int64   `json:"tokens"`
	Cost     *float64 `json:"cost"`
	Currency string   `json:"currency,omitempty"`
}

// over says which limit is reached, "" for none.
func (b Budget) over(u Usage) string {
	switch {
	case b.Turns > 0 && u.Turns > b.Turns:
		return fmt.Sprintf("its budget of %d turns is used up", b.Turns)
	case b.Tokens > 0 && u.Tokens != nil && *u.Tokens >= b.Tokens:
		return fmt.Sprintf("its budget of %d tokens is used up", b.Tokens)
	case b.Cost > 0 && u.Cost != nil && *u.Cost >= b.Cost:
		return fmt.Sprintf("its budget of %g %s is used up", b.Cost, u.Currency)
	}
	return ""
}

// with adds what the delegations inside one have used.
func (u Usage) with(inside Usage) Usage {
	u.Turns += inside.Turns
	u.Tokens, u.Cost = sum(u.Tokens, inside.Tokens), sum(u.Cost, inside.Cost)
	return u
}

// sum adds two figures that may not be known.
func sum[T int64 | float64](a, b *T) *T {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	n := *a + *b
	return &n
}
