package telemetry

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What usage is summed up by.
const (
	ByDay     = "day" // of this machine's clock
	ByHarness = "harness"
	ByProject = "project"
	BySession = "session"
)

// Groupings are all of them.
var Groupings = []string{ByDay, ByHarness, ByProject, BySession}

// A Sum is what was used by one day, harness, project or session. The names of its fields are a promise to scripts;
// null is not reported, never zero.
type Sum struct {
	Key          string             `json:"key"`
	Sessions     int                `json:"sessions"`
	Turns        int                `json:"turns"`
	InputTokens  *int64             `json:"inputTokens"`
	OutputTokens *int64             `json:"outputTokens"`
	Cost         *float64           `json:"cost"` // null also where it is in more than one currency
	Currency     *string            `json:"currency"`
	Costs        map[string]float64 `json:"costs,omitempty"` // by currency, where there is more than one
	MemoryBytes  int64              `json:"memoryBytes"`     // that memory has added to prompts
	Reported     bool               `json:"reported"`        // somebody reported anything
	Counted      int                `json:"reportedTurns"`   // of how many turns tokens were reported
}

// Books are all that was used since a time, to be summed up in several ways.
type Books struct {
	sessions map[int64]account
	turns    []entry
	inserted []entry
	Reports  []Report
}

// an account is what a session's sums stand under.
type account struct{ harness, project, id string }

func (a account) key(by string, at time.Time) string {
	switch by {
	case ByDay:
		return at.Local().Format(time.DateOnly)
	case ByProject:
		return a.project
	case BySession:
		return a.id
	}
	return a.harness
}

// an entry is a turn, or bytes that were inserted.
type entry struct {
	session int64
	at      time.Time
	bytes   int64
}

// ReadBooks reads what was used since a time (zero: ever).
func ReadBooks(ctx context.Context, db sqlite.Querier, since time.Time) (*Books, error) {
	b := &Books{sessions: map[int64]account{}}
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		var id int64
		var a account
		err = row.Scan(&id, &a.harness, &a.project, &a.id)
		b.sessions[id] = a
		return struct{}{}, err
	}, `SELECT id, harness, project, acp_id FROM sessions`)
	if err == nil {
		b.turns, err = sqlite.Collect(ctx, db, scanEntry,
			`SELECT session, started, 0 FROM turns WHERE started >= ?`, sqlite.Stamp(since))
	}
	if err == nil {
		b.inserted, err = sqlite.Collect(ctx, db, scanEntry,
			`SELECT session, at, bytes FROM injections WHERE at >= ? AND outcome <> 'refused'`, sqlite.Stamp(since))
	}
	if err != nil {
		return nil, sqlite.While("reading what was used", err)
	}
	if b.Reports, err = Reports(ctx, db); err != nil {
		return nil, err
	}
	b.Reports = slices.DeleteFunc(b.Reports, func(r Report) bool { return r.At.Before(since) })
	return b, nil
}

func scanEntry(row sqlite.Row) (e entry, err error) {
	var at int64
	err = row.Scan(&e.session, &at, &e.bytes)
	e.at = sqlite.Unstamp(at)
	return e, err
}

// Sums gives what was used by day, harness, project or session, in the order of the keys.
func (b *Books) Sums(by string) []Sum {
	type tally struct {
		Sum
		sessions map[int64]bool
		reported map[[2]int64]bool // turns
		costs    map[string]float64
	}
	tallies := map[string]*tally{}
	of := func(session int64, at time.Time) *tally {
		key := b.sessions[session].key(by, at)
		t := tallies[key]
		if t == nil {
			t = &tally{Sum: Sum{Key: key}, sessions: map[int64]bool{}, reported: map[[2]int64]bool{},
				costs: map[string]float64{}}
			tallies[key] = t
		}
		t.sessions[session] = true
		return t
	}
	for _, e := range b.turns {
		of(e.session, e.at).Turns++
	}
	for _, e := range b.inserted {
		of(e.session, e.at).MemoryBytes += e.bytes
	}
	for i, r := range b.Reports {
		t := of(r.Session, r.At)
		t.Reported = true
		t.InputTokens, t.OutputTokens = Plus(t.InputTokens, r.Input), Plus(t.OutputTokens, r.Output)
		if r.Input != nil || r.Output != nil {
			turn := r.Turn
			if turn == 0 { // one that it does not name
				turn = -int64(i) - 1
			}
			t.reported[[2]int64{r.Session, turn}] = true
		}
		if r.Cost != nil {
			t.costs[r.Currency] += *r.Cost
		}
	}
	sums := []Sum{}
	for _, t := range tallies {
		t.Sessions, t.Counted = len(t.sessions), len(t.reported)
		for currency, cost := range t.costs {
			if len(t.costs) > 1 {
				t.Costs = t.costs
				break
			}
			t.Cost = &cost
			if currency != "" {
				t.Currency = &currency
			}
		}
		sums = append(sums, t.Sum)
	}
	slices.SortFunc(sums, func(a, b Sum) int { return cmp.Compare(a.Key, b.Key) })
	return sums
}

// Plus adds up figures; of none it makes none.
func Plus(sum, more *int64) *int64 {
	if more == nil {
		return sum
	}
	added := *more
	if sum != nil {
		added += *sum
	}
	return &added
}
