package embedded

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// The share of a query's weight that a memory must hold: to be told unasked, and to be found.
const (
	leastRecalled = 0.45
	leastFound    = 0.25
)

// How much it counts where a term stands.
const (
	inContent = 1.0
	inContext = 0.7 // what the memory was said about
	inTurn    = 0.6 // another memory of the same turn
	alike     = 0.8 // of these, for another form of the word
)

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

// A document is a row as its terms.
type document struct {
	row
	says, about termSet
	share       float64 // of the query's weight
	words       float64 // of the query that it holds, common ones not counted; two CJK pairs are one
}

// documents reads rows, and gives what the turns that they were learned from say together.
func documents(rows []row) (docs []document, turns map[int64]termSet) {
	docs, turns = make([]document, len(rows)), map[int64]termSet{}
	for i, r := range rows {
		docs[i] = document{row: r, says: setOf(terms(r.Content)), about: setOf(terms(r.Context + " " + r.Tags))}
		if r.turn == 0 {
			continue
		}
		if turns[r.turn] == nil {
			turns[r.turn] = termSet{}
		}
		for t := range docs[i].says {
			turns[r.turn][t] = true
		}
	}
	return docs, turns
}

// weigh sets what each document holds of the query. A term that the index knows and nothing here holds is as rare as one that it does not know.
func (q *query) weigh(docs []document, turns map[int64]termSet) {
	total, informative := 0.0, 0
	held := make([][]float64, len(docs))
	for i := range held {
		held[i] = make([]float64, len(q.asked))
	}
	for j := range q.asked {
		a := &q.asked[j]
		known := false
		for i, d := range docs {
			held[i][j] = max(inContent*a.in(d.says), inContext*a.in(d.about), inTurn*a.in(turns[d.turn]))
			known = known || held[i][j] > 0
		}
		if !known && a.docs > 0 {
			a.weight = a.looks * rarity(q.size, 0)
		}
		total += a.weight
		if a.looks > asCommon {
			informative++
		}
	}
	for i := range docs {
		d := &docs[i]
		named := false
		for j, a := range q.asked {
			d.share += held[i][j] * a.weight / total
			if held[i][j] > 0 && a.looks > asCommon {
				d.words += min(a.looks, 1)
				named = named || a.looks == asName
			}
		}
		if d.words < 2 && informative > 2 && !named {
			d.share /= 2 // one word is a coincidence
		}
	}
}

// rank scores rows by what they say about the query, how new they are and whose they are, and drops what says too little. The best come first.
func (s *Store) rank(q query, rows []row, in search) []document {
	docs, turns := documents(rows)
	q.weigh(docs, turns)
	now := s.opts.Now()
	var kept []document
	for _, d := range docs {
		if slices.Contains(in.seen, d.ID) || slices.Contains(in.seen, d.Content) {
			continue
		}
		if d.share < in.least {
			continue
		}
		age := max(now.Sub(d.Created), 0)
		d.score = d.share * (0.85 + 0.15*math.Exp2(-float64(age)/float64(90*24*time.Hour))) * (1 + 0.1*d.Rating)
		switch {
		case d.Project == "":
			d.score *= 0.95
		case d.Project != in.session.Project:
			d.score *= 0.7
		}
		if memory.Instructs(d.Content) {
			d.score *= 0.5
		}
		kept = append(kept, d)
	}
	order(kept)
	return kept
}

// order puts the best first; of equals the newer.
func order(docs []document) {
	slices.SortStableFunc(docs, func(a, b document) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.Created.Compare(a.Created), cmp.Compare(b.id, a.id))
	})
}

// best gives the best of what was found, without what says the same again.
func best(found []document, most int) []row {
	order(found)
	var list []row
	var said []termSet
	for _, d := range found {
		if len(list) == most {
			break
		}
		if repeats(d.says, said) {
			continue
		}
		said = append(said, d.says)
		list = append(list, d.row)
	}
	return list
}

// in says how far a set of terms holds the term: 1, or less for another form of it.
func (a asked) in(set termSet) float64 {
	if set[a.term] {
		return 1
	}
	if a.near != "" {
		for t := range set {
			if strings.HasPrefix(t, a.near) && len(t) <= len(a.term)+3 {
				return alike
			}
		}
	}
	return 0
}
