package telemetry

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// By what usage is summed up.
const (
	ByDay     = "day"  // of this machine's clock
	ByWeek    = "week" // likewise, by its Monday
	ByHarness = "harness"
	ByProject = "project"
	BySession = "session"
)

// Groupings are all of these.
var Groupings = []string{ByDay, ByWeek, ByHarness, ByProject, BySession}

// A Sum is what was used on one day, or by one harness, project or session. Its JSON is a promise to scripts: null
// means that nothing was reported, never zero.
type Sum struct {
	Key          string             `json:"key"`
	Sessions     int                `json:"sessions"`
	Turns        int                `json:"turns"`
	InputTokens  *int64             `json:"inputTokens"`
	OutputTokens *int64             `json:"outputTokens"`
	Cost         *float64           `json:"cost"` // null also if it is in more than one currency
	Currency     *string            `json:"currency"`
	Costs        map[string]float64 `json:"costs,omitempty"` // by currency, if there is more than one
	MemoryBytes  int64              `json:"memoryBytes"`     // that were inserted
	Reported     bool               `json:"reported"`        // anything was reported
	Counted      int                `json:"reportedTurns"`   // turns of which tokens were reported
	// Uses is what became of what memory told, by kind: file, words, rule.
	Uses  map[string]correlation.Record `json:"uses,omitempty"`
	Notes *Notes                        `json:"notes,omitempty"` // what notes of sessions cost, beside all that
}

// Notes is how often agents were asked for notes, and what that cost as far as they say so.
type Notes struct {
	Asked  int                `json:"asked"`
	Notes  int                `json:"notes"`
	Tokens *int64             `json:"tokens"`          // null: not reported
	Costs  map[string]float64 `json:"costs,omitempty"` // by currency
}

// Add counts an answer.
func (n *Notes) Add(one correlation.Noting) {
	n.Asked++
	n.Notes, n.Tokens = n.Notes+one.Notes, Plus(n.Tokens, one.Tokens)
	if one.Cost != nil {
		if n.Costs == nil {
			n.Costs = map[string]float64{}
		}
		n.Costs[one.Currency] += *one.Cost
	}
}

// Usage is all that was used within a Scope, to be summed up in several ways.
type Usage struct{ accounts []*account }

// An account is the usage of a session.
type account struct {
	session              int64
	harness, project, id string
	turns, inserted      []amount // turns that began, bytes that were inserted
	reports              []Report
	uses                 []correlation.Use
	notings              []correlation.Noting
}

// key is under what something of the account is summed up; "" for all in one.
func (a *account) key(by string, at time.Time) string {
	switch day := at.Local(); by {
	case ByDay:
		return day.Format(time.DateOnly)
	case ByWeek:
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7).Format(time.DateOnly)
	case ByHarness:
		return a.harness
	case ByProject:
		return a.project
	case BySession:
		return a.id
	}
	return ""
}

// quarter is the quarter of an hour that a time is in: days begin on one in every time zone.
func quarter(t time.Time) int64 { return t.Unix() / (15 * 60) }

// An amount is so many of something; the time is zero where only the number is known.
type amount struct {
	at time.Time
	n  int64
}

// ReadUsage reads the usage within a scope. Only what is timed can be summed up by day and week.
func ReadUsage(ctx context.Context, store correlation.Book, scope correlation.Scope, timed bool) (*Usage, error) {
	names, err := store.Names(ctx, scope)
	uses, err2 := store.Uses(ctx, scope)
	notings, err3 := store.Notings(ctx, scope)
	if err := cmp.Or(err, err2, err3); err != nil {
		return nil, err
	}
	u, accounts := &Usage{}, map[int64]*account{}
	of := func(session int64) *account { // a turn may be newer than the list of sessions
		a := accounts[session]
		if a == nil {
			a = &account{session: session}
			accounts[session] = a
			u.accounts = append(u.accounts, a)
		}
		return a
	}
	for _, n := range names {
		a := of(n.ID)
		a.harness, a.project, a.id = n.Harness, n.Project, n.ACPID
	}
	for _, use := range uses {
		a := of(use.Session)
		a.uses = append(a.uses, use)
	}
	for _, n := range notings {
		a := of(n.Session)
		a.notings = append(a.notings, n)
	}
	err = store.TurnStarts(ctx, scope, timed, func(session int64, at time.Time, n int) {
		a := of(session)
		if last := len(a.turns) - 1; last >= 0 && quarter(a.turns[last].at) == quarter(at) {
			a.turns[last].n += int64(n)
			return
		}
		a.turns = append(a.turns, amount{at, int64(n)})
	})
	if err == nil {
		err = store.InsertedBytes(ctx, scope, func(session int64, at time.Time, size int64) {
			a := of(session)
			a.inserted = append(a.inserted, amount{at, size})
		})
	}
	if err == nil {
		err = EachReport(ctx, store, scope, func(r Report) {
			a := of(r.Session)
			a.reports = append(a.reports, r)
		})
	}
	return u, err
}

// NameHarnesses has harnesses called by other names. What has one name then is one harness.
func (u *Usage) NameHarnesses(name func(string) string) {
	for _, a := range u.accounts {
		a.harness = name(a.harness)
	}
}

// SessionSums returns the usage of sessions by their rows: tokens and costs alone, and none where nobody reported any.
func SessionSums(ctx context.Context, store correlation.Book, in correlation.Scope) (map[int64]Sum, error) {
	tallies := map[int64]*tally{}
	err := EachReport(ctx, store, in, func(r Report) {
		if tallies[r.Session] == nil {
			tallies[r.Session] = &tally{costs: map[string]float64{}}
		}
		tallies[r.Session].add(r)
	})
	sums := make(map[int64]Sum, len(tallies))
	for session, t := range tallies {
		sums[session] = t.sum()
	}
	return sums, err
}

// Largest sorts sums by what was used, those of most tokens first, else of most turns.
func Largest(sums []Sum) []Sum {
	tokens := func(s Sum) (n int64) {
		for _, some := range []*int64{s.InputTokens, s.OutputTokens} {
			if some != nil {
				n += *some
			}
		}
		return n
	}
	slices.SortStableFunc(sums, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(tokens(b), tokens(a)), cmp.Compare(b.Turns, a.Turns))
	})
	return sums
}

// A tally is a sum while it is added up.
type tally struct {
	Sum
	session int64 // the last one that was counted
	costs   map[string]float64
}

// Sums returns the usage by one of the Groupings, in the order of the keys.
func (u *Usage) Sums(by string) []Sum {
	tallies := map[string]*tally{}
	for _, a := range u.accounts {
		of := func(at time.Time) *tally {
			key := a.key(by, at)
			t := tallies[key]
			if t == nil {
				t = &tally{Sum: Sum{Key: key}, costs: map[string]float64{}}
				tallies[key] = t
			}
			if t.session != a.session {
				t.session = a.session
				t.Sessions++
			}
			return t
		}
		for _, t := range a.turns {
			of(t.at).Turns += int(t.n)
		}
		for _, in := range a.inserted {
			of(in.at).MemoryBytes += in.n
		}
		for _, r := range a.reports {
			of(r.At).add(r)
		}
		for _, use := range a.uses {
			t := of(use.At)
			if t.Uses == nil {
				t.Uses = map[string]correlation.Record{}
			}
			t.Uses[use.Kind] = t.Uses[use.Kind].With(use.State)
		}
		for _, n := range a.notings {
			t := of(n.Began)
			if t.Notes == nil {
				t.Notes = &Notes{}
			}
			t.Notes.Add(n)
		}
	}
	sums := make([]Sum, 0, len(tallies))
	for _, t := range tallies {
		sums = append(sums, t.sum())
	}
	slices.SortFunc(sums, func(a, b Sum) int { return cmp.Compare(a.Key, b.Key) })
	return sums
}

// add counts a report. No two reports are of the tokens of one turn.
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

// sum returns the finished sum.
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

// Plus adds two figures of which either may be nil; of two nil it makes nil.
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
