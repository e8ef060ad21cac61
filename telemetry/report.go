// Package telemetry reads what the relay has recorded of sessions (docs/events.md): what was used, in sums, what
// happened, as events, and both as OpenTelemetry's spans and metrics. It changes nothing.
package telemetry

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
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

// reported is a row of the table usage, with the harness and the process that reported it.
type reported struct {
	Report
	reporter, harness, process string
}

// eachReport calls do for the reports of each session in order, so that each token and each cent is counted once.
//
// Most harnesses report the tokens of a turn, some the total of their process so far, and costs are totals of the
// session or of the process so far (upstream.Profile). Of such a running total a report adds the difference to the one
// before.
func eachReport(ctx context.Context, db sqlite.Querier, scope Scope, do func(Report)) error {
	startAnew, err := restartingHarnesses(ctx, db)
	if err != nil {
		return err
	}
	var rows []reported // of one session
	flush := func() {
		for _, r := range additions(rows) {
			if !r.At.Before(scope.Since) {
				do(r)
			}
		}
		rows = rows[:0]
	}
	_, err = sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		r, err := scanReported(row)
		if len(rows) > 0 && rows[0].Session != r.Session {
			flush()
		}
		rows = append(rows, r)
		return struct{}{}, err
	}, `SELECT u.session, coalesce(u.turn, 0), u.at, u.reporter, u.input, u.output, u.cost, u.currency, s.harness,
		CASE WHEN s.harness IN (SELECT value FROM json_each(?2)) THEN coalesce((SELECT process FROM turns t
			WHERE t.session = u.session AND t.id <= coalesce(u.turn, t.id) AND t.started <= u.at
			ORDER BY t.id DESC LIMIT 1), '')
		ELSE '' END
		FROM usage u JOIN sessions s ON s.id = u.session WHERE `+scope.sessions()+` ORDER BY u.session, u.id`,
		scope.Session, startAnew)
	flush()
	return sqlite.While("reading usage", err)
}

// restartingHarnesses returns, as a JSON list, the harnesses whose totals restart with each process. The process of a
// report has to be looked up only for these.
func restartingHarnesses(ctx context.Context, db sqlite.Querier) (string, error) {
	names, err := sqlite.Collect(ctx, db, sqlite.One[string], `SELECT DISTINCT harness FROM sessions`)
	if err != nil {
		return "", sqlite.While("reading usage", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		p := profileOf(name)
		return !p.TokensAddUp && !p.CostStartsAnew
	})
	list, err := json.Marshal(names)
	return string(list), err
}

// profileOf returns the profile of a harness, by its own name or the one that it is started by.
func profileOf(harness string) upstream.Profile {
	profile, _ := upstream.ByAgent(harness)
	if profile.Name == "" {
		profile, _ = upstream.Lookup(harness)
	}
	return profile
}

func scanReported(row sqlite.Row) (r reported, err error) {
	var at int64
	var input, output sql.NullInt64
	var cost sql.NullFloat64
	err = row.Scan(&r.Session, &r.Turn, &at, &r.reporter, &input, &output, &cost, &r.Currency, &r.harness, &r.process)
	r.At = sqlite.Unstamp(at)
	if input.Valid && input.Int64 >= 0 && input.Int64 <= maxTokens {
		r.Input = &input.Int64
	}
	if output.Valid && output.Int64 >= 0 && output.Int64 <= maxTokens {
		r.Output = &output.Int64
	}
	if cost.Valid && cost.Float64 >= 0 && cost.Float64 <= maxCost {
		r.Cost = &cost.Float64
	}
	return r, err
}

// additions returns what each row of one session adds to the usage, without rows that add nothing.
func additions(rows []reported) []Report {
	if len(rows) == 0 {
		return nil
	}
	profile := profileOf(rows[0].harness)
	counts := countedRows(rows)
	var all []Report
	var input, output total[int64]
	costs := map[string]*total[float64]{}
	for i, r := range rows {
		one := r.Report
		switch {
		case !counts[i]:
			one.Input, one.Output = nil, nil
		case profile.TokensAddUp:
			one.Input, one.Output = input.add(one.Input, r.process), output.add(one.Output, r.process)
		}
		if one.Cost != nil {
			cost := costs[one.Currency]
			if cost == nil {
				cost = &total[float64]{}
				costs[one.Currency] = cost
			}
			process := ""
			if profile.CostStartsAnew {
				process = r.process
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
func countedRows(rows []reported) []bool {
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
		case rows[before].reporter == "result" && r.reporter != "result":
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
