package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A query is what a prompt asks for.
type query struct {
	weights map[string]float64 // of its informative terms
	total   float64            // of the weights
	match   string             // in FTS5's language; empty: nothing to look for
}

const (
	mostAsked    = 24    // terms of a prompt that are looked at
	mostPostings = 30000 // that a search reads: common words go first

	// The share of a query's weight that a memory must hold: to be told unasked, and to be found.
	leastRecalled = 0.5
	leastFound    = 0.25
)

// ask picks a prompt's informative terms: how telling a word is says the index, for words that say nothing in any collection there is a list.
func (s *Store) ask(ctx context.Context, text string) (query, error) {
	q := query{weights: map[string]float64{}}
	var list []string
	for _, t := range terms(text) {
		if !stopped[t] && !slices.Contains(list, t) {
			list = append(list, t)
		}
		if len(list) == 4*mostAsked {
			break
		}
	}
	if len(list) == 0 {
		return q, nil
	}
	df, total, err := s.frequencies(ctx, list)
	if err != nil {
		return q, err
	}
	n := float64(max(total, 200))
	for _, t := range list {
		q.weights[t] = math.Log(1 + n/(float64(df[t])+1))
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(df[a], df[b]) })
	var match []string
	postings := 0
	for i, t := range list {
		if i >= mostAsked {
			delete(q.weights, t)
			continue
		}
		q.total += q.weights[t]
		if df[t] == 0 {
			continue
		}
		if postings += df[t]; postings > mostPostings && len(match) > 0 {
			continue
		}
		match = append(match, quote(t))
	}
	q.match = strings.Join(match, " OR ")
	return q, nil
}

type termSet map[string]bool

func setOf(list []string) termSet {
	set := make(termSet, len(list))
	for _, t := range list {
		set[t] = true
	}
	return set
}

// repeats reports whether most of set stands in one of the others.
func repeats(set termSet, others []termSet) bool {
	for _, other := range others {
		common := 0
		for t := range set {
			if other[t] {
				common++
			}
		}
		if 10*common >= 8*min(len(set), len(other)) && 10*common >= 6*max(len(set), len(other)) {
			return true
		}
	}
	return false
}

// rank orders rows by what they say about the query, how new they are and whose they are, and drops what says too little.
func (s *Store) rank(q query, rows []row, in search) []row {
	now := s.opts.Now()
	var kept []row
	for _, r := range rows {
		if slices.Contains(in.seen, r.ID) || slices.Contains(in.seen, r.Content) {
			continue
		}
		held, says := 0.0, setOf(terms(r.Content))
		about := setOf(terms(r.Context + " " + r.Tags))
		for t, w := range q.weights {
			if says[t] {
				held += w
			} else if about[t] {
				held += 0.6 * w
			}
		}
		share := held / q.total
		if share < in.least {
			continue
		}
		age := max(now.Sub(r.Created), 0)
		r.score = share * (0.85 + 0.15*math.Exp2(-float64(age)/float64(90*24*time.Hour)))
		if r.Project != in.session.Project && r.Project != "" {
			r.score *= 0.7
		} else if r.Project == "" {
			r.score *= 0.95
		}
		if memory.Instructs(r.Content) {
			r.score *= 0.5
		}
		kept = append(kept, r)
	}
	slices.SortStableFunc(kept, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.Created.Compare(a.Created), cmp.Compare(b.id, a.id))
	})
	var best []row
	var said []termSet
	for _, r := range kept {
		set := setOf(terms(r.Content))
		if len(best) == in.most {
			break
		}
		if repeats(set, said) {
			continue
		}
		said = append(said, set)
		best = append(best, r)
	}
	return best
}
