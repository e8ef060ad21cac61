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

// Books are all that was used in some sessions since a time, to be summed up in several ways.
type Books struct{ accounts []*account }

// An account is what a session used.
type account struct {
	session              int64
	harness, project, id string
	turns                []time.Time // when they began
	inserted             []addition
	reports              []Report
}

// An addition is what memory added to a prompt.
type addition struct {
	at    time.Time
	bytes int64
}

// of returns the account of a session, and makes it if need be: a turn may be newer than the list of sessions.
func (b *Books) of(accounts map[int64]*account, session int64) *account {
	a := accounts[session]
	if a == nil {
		a = &account{session: session}
		accounts[session] = a
		b.accounts = append(b.accounts, a)
	}
	return a
}

// ReadBooks reads what was used.
func ReadBooks(ctx context.Context, db sqlite.Querier, scope Scope) (*Books, error) {
	b, accounts, since := &Books{}, map[int64]*account{}, sqlite.Stamp(scope.Since)
	_, err := sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
		a := &account{}
		err = row.Scan(&a.session, &a.harness, &a.project, &a.id)
		accounts[a.session] = a
		b.accounts = append(b.accounts, a)
		return struct{}{}, err
	}, `SELECT id, harness, project, acp_id FROM sessions WHERE ?1 IN (0, id)`, scope.Session)
	if err == nil {
		_, err = sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
			var session, at int64
			err = row.Scan(&session, &at)
			a := b.of(accounts, session)
			a.turns = append(a.turns, sqlite.Unstamp(at))
			return struct{}{}, err
		}, `SELECT session, started FROM turns WHERE `+scope.sessions()+` AND started >= ?2`, scope.Session, since)
	}
	if err == nil {
		_, err = sqlite.Collect(ctx, db, func(row sqlite.Row) (_ struct{}, err error) {
			var session, at, bytes int64
			err = row.Scan(&session, &at, &bytes)
			a := b.of(accounts, session)
			a.inserted = append(a.inserted, addition{sqlite.Unstamp(at), bytes})
			return struct{}{}, err
		}, `SELECT session, at, bytes FROM injections WHERE `+scope.sessions()+` AND at >= ?2 AND outcome <> 'refused'`,
			scope.Session, since)
	}
	if err != nil {
		return nil, sqlite.While("reading what was used", err)
	}
	return b, eachReport(ctx, db, scope, func(r Report) {
		a := b.of(accounts, r.Session)
		a.reports = append(a.reports, r)
	})
}

// All returns what was reported, by session and in order.
func (b *Books) All(yield func(Report) bool) {
	for _, a := range b.accounts {
		for _, r := range a.reports {
			if !yield(r) {
				return
			}
		}
	}
}

// A tally is a sum in the making.
type tally struct {
	Sum
	session int64 // the last one that was counted
	costs   map[string]float64
}

// Sums returns what was used by day, harness, project or session, in the order of the keys.
func (b *Books) Sums(by string) []Sum {
	tallies := map[string]*tally{}
	under := func(key string) *tally {
		t := tallies[key]
		if t == nil {
			t = &tally{Sum: Sum{Key: key}, costs: map[string]float64{}}
			tallies[key] = t
		}
		return t
	}
	days := map[int64]*tally{} // by quarters of an hour, of which every day of every place on earth is made
	for _, a := range b.accounts {
		var whole *tally // all of the account's, but by day
		of := func(at time.Time) *tally {
			t := whole
			if by == ByDay {
				const quarter = 15 * 60
				if t = days[at.Unix()/quarter]; t == nil {
					t = under(at.Local().Format(time.DateOnly))
					days[at.Unix()/quarter] = t
				}
			} else if t == nil {
				whole = under(map[string]string{ByHarness: a.harness, ByProject: a.project, BySession: a.id}[by])
				t = whole
			}
			if t.session != a.session {
				t.session = a.session
				t.Sessions++
			}
			return t
		}
		for _, at := range a.turns {
			of(at).Turns++
		}
		for _, in := range a.inserted {
			of(in.at).MemoryBytes += in.bytes
		}
		for _, r := range a.reports {
			of(r.At).add(r)
		}
	}
	sums := make([]Sum, 0, len(tallies))
	for _, t := range tallies {
		sums = append(sums, t.sum())
	}
	slices.SortFunc(sums, func(a, b Sum) int { return cmp.Compare(a.Key, b.Key) })
	return sums
}

// add counts a report. No two tell the tokens of one turn.
func (t *tally) add(r Report) {
	t.Reported = true
	t.InputTokens, t.OutputTokens = Plus(t.InputTokens, r.Input), Plus(t.OutputTokens, r.Output)
	if r.Input != nil || r.Output != nil {
		t.Counted++
	}
	if r.Cost != nil {
		t.costs[r.Currency] += *r.Cost
	}
}

// sum is what a tally comes to.
func (t *tally) sum() Sum {
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
	return t.Sum
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
