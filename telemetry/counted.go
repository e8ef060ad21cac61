// Package telemetry reads what the relay has recorded of sessions (docs/events.md): what was used, in sums, and what
// happened, as events. It changes nothing.
package telemetry

import (
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// A Report is what one report of a harness adds to the usage. nil: not reported.
type Report struct {
	Session, Turn int64 // rows; Turn is 0 for a report of the session
	At            time.Time
	Input, Output *int64
	Cost          *float64
	Currency      string
}

// Harnesses may report anything. Figures that no turn can have reached count as not reported.
const (
	maxTokens = 1e12
	maxCost   = 1e6
)

// EachReport calls do for the reports of each session in order, so that each token and each cent is counted once.
//
// Most harnesses report the tokens of a turn, some the total of their process so far, and costs are totals of the
// session or of the process so far (upstream.Profile). Of such a running total a report adds the difference to the one
// before.
func EachReport(ctx context.Context, store correlation.Book, scope correlation.Scope, do func(Report)) error {
	restarting, err := store.Harnesses(ctx)
	if err != nil {
		return err
	}
	restarting = slices.DeleteFunc(restarting, func(name string) bool {
		p, _ := upstream.Lookup(name)
		return !p.TokensAddUp && !p.CostStartsAnew
	})
	var rows []correlation.UsageReport // of one session
	flush := func() {
		for _, r := range additions(rows) {
			if !r.At.Before(scope.Since) {
				do(r)
			}
		}
		rows = rows[:0]
	}
	err = store.UsageReports(ctx, scope, restarting, func(r correlation.UsageReport) {
		if len(rows) > 0 && rows[0].Session != r.Session {
			flush()
		}
		r.Input, r.Output, r.Cost = likely(r.Input, maxTokens), likely(r.Output, maxTokens), likely(r.Cost, maxCost)
		rows = append(rows, r)
	})
	flush()
	return err
}

// likely is a figure that harnesses may report, or nil.
func likely[N int64 | float64](n *N, limit N) *N {
	if n == nil || *n < 0 || *n > limit {
		return nil
	}
	return n
}
