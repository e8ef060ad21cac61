package rank

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// A Query is what a prompt asks for, weighed by what the index holds.
type Query struct {
	language.Question
	Days    language.Range // that the prompt names
	Dated   bool           // it names such days
	Telling int            // how many of its terms are not common, and say what it is about

	asked   []Asked
	at      map[string]int    // form → its place in asked
	texts   float64           // number of passages in the index
	average float64           // mean number of terms of a passage
	held    map[int64]float64 // by conversation: the share of the question that it holds, beside the best
}

// An Asked term is a term of the question that is looked for.
type Asked struct {
	language.Term
	Place int     // its index among the question's terms
	Docs  int     // how many passages have it
	IDF   float64 // inverse document frequency: how much it tells
	share float64 // its part of the sum of all IDFs
}

const (
	fewest      = 300 // passages that an index is taken to have at least: a small one cannot tell which words are rare
	maxAsked    = 24  // terms of a prompt that are looked for, the rarest
	acrossWords = .25 // factor for a pair of characters that no passage has: it may span two words
	rareDocs    = 6   // how many passages may have a rare term,
	rareShare   = .01 // or which part of all
)

// Ask reads a prompt. Weigh must be called before passages are read and ranked.
func Ask(prompt string, now time.Time) Query {
	days, rest, dated := language.FindTime(prompt, now)
	if dated {
		prompt = rest
	}
	return Query{Question: language.Ask(prompt), Days: days, Dated: dated}
}

// Weigh sets how much each term tells. docs has for each of Terms how many passages have it; passages is how many there
// are, terms how many terms they have together.
func (q *Query) Weigh(docs []int, passages, terms float64) {
	q.texts = max(passages, fewest)
	q.average = max(terms/max(passages, 1), 4)
	for i, t := range q.Terms {
		a := Asked{Term: t, Place: i, Docs: docs[i]}
		if a.Docs == 0 && t.Part {
			continue // the identifier as a whole is a term, too
		}
		a.IDF = math.Log(1 + (q.texts-float64(a.Docs)+.5)/(float64(a.Docs)+.5))
		if t.Pair && a.Docs == 0 { // the two characters may belong to two words
			a.IDF *= acrossWords
		}
		if !t.Common && !(t.Pair && a.Docs == 0) {
			q.Telling++
		}
		q.asked = append(q.asked, a)
	}
	slices.SortStableFunc(q.asked, func(a, b Asked) int { return cmp.Compare(b.IDF, a.IDF) })
	q.asked = q.asked[:min(len(q.asked), maxAsked)]
	total := 0.0
	for _, a := range q.asked {
		total += a.IDF
	}
	q.at = map[string]int{}
	for i := range q.asked {
		q.asked[i].share = q.asked[i].IDF / total
		for _, f := range q.asked[i].Forms {
			if _, ok := q.at[f]; !ok {
				q.at[f] = i
			}
		}
	}
}

// Rarest returns the terms that passages are looked up by: the rarest ones, as many as have most passages together, but
// at least one that has any. The others only add to the score of what these find.
func (q *Query) Rarest(most int) []Asked {
	byDocs := slices.Clone(q.asked)
	slices.SortStableFunc(byDocs, func(a, b Asked) int { return cmp.Compare(a.Docs, b.Docs) })
	var list []Asked
	entries := 0
	for _, a := range byDocs {
		switch {
		case a.Docs == 0:
		case entries+a.Docs > most && entries > 0:
		default:
			entries += a.Docs
			list = append(list, a)
		}
	}
	return list
}

// find returns the index in asked of a passage's term, or -1.
func (q *Query) find(term []byte) int {
	if i, ok := q.at[string(term)]; ok {
		return i
	}
	return -1
}

// Held is the share of the question that a text holds, from 0 to 1, by its terms.
func (q *Query) Held(terms []string) (held float64) {
	var met uint32
	for _, t := range terms {
		if i := q.find([]byte(t)); i >= 0 && met>>i&1 == 0 {
			met |= 1 << i
			held += q.asked[i].share
		}
	}
	return held
}
