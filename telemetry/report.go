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

// eachReport calls do for the reports of each session in order, so that each token and each cent is counted once.
//
// Most harnesses report the tokens of a turn, some the total of their process so far, and costs are totals of the
// session or of the process so far (upstream.Profile). Of such a running total a report adds the difference to the one
// before.
func eachReport(ctx context.Context, store correlation.Book, scope correlation.Scope, do func(Report)) error {
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

// additions returns what each row of one session adds to the usage, without rows that add nothing.
func additions(rows []correlation.UsageReport) []Report {
	if len(rows) == 0 {
		return nil
	}
	profile, _ := upstream.Lookup(rows[0].Harness)
	counts := countedRows(rows)
	var all []Report
	var input, output total[int64]
	costs := map[string]*total[float64]{}
	for i, r := range rows {
		one := Report{Session: r.Session, Turn: r.Turn, At: r.At, Input: r.Input, Output: r.Output, Cost: r.Cost,
			Currency: r.Currency}
		switch {
		case !counts[i]:
			one.Input, one.Output = nil, nil
		case profile.TokensAddUp:
			one.Input, one.Output = input.add(one.Input, r.Process), output.add(one.Output, r.Process)
		}
		if one.Cost != nil {
			cost := costs[one.Currency]
			if cost == nil {
				cost = &total[float64]{}
				costs[one.Currency] = cost
			}
			process := ""
			if profile.CostStartsAnew {
				process = r.Process
			}
			one.Cost = cost.add(one.Cost, process)
		}
		if one.Input != nil || one.Output != nil || one.Cost != nil {
			all = append(all, one)
		}
	}
	return all
}

// countedRows says for each row whether its tokens count. Of several reports of a turn it is the result's, or the last
// one.
func countedRows(rows []correlation.UsageReport) []bool {
	counts := make([]bool, len(rows))
	of := map[int64]int{}
	for i, r := range rows {
		if r.Input == nil && r.Output == nil {
			continue
		}
		before, known := of[r.Turn]
		switch {
		case r.Turn == 0: // of a turn that is not known (ACP version 2): it counts
		case !known:
			of[r.Turn] = i
		case rows[before].Reporter == "result" && r.Reporter != "result":
			continue
		default:
			counts[before] = false
			of[r.Turn] = i
		}
		counts[i] = true
	}
	return counts
}

// A total is a running total that is reported again and again. It restarts with a new process, or if it is lower than
// before.
type total[N int64 | float64] struct {
	last    N
	process string
}

// add returns what a reported total adds to the one before.
func (t *total[N]) add(now *N, process string) *N {
	if now == nil {
		return nil
	}
	added := *now - t.last
	if added < 0 || process != t.process {
		added = *now
	}
	t.last, t.process = *now, process
	return &added
}
