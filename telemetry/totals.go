package telemetry

import (
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

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
