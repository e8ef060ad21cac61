package rank

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// A Query is what a prompt asks for, weighed by what the index knows.
type Query struct {
	language.Question
	Days  language.Range // that the prompt names
	Dated bool           // it names any

	asked    []Asked
	at       map[string]int // form → its place in asked
	prefixes bool           // some are looked for by how they begin
	texts    float64        // passages in the index
	average  float64        // terms of one
	content  int            // terms that are not common: what the prompt is about
}

// An Asked term is one that is looked for.
type Asked struct {
	language.Term
	Place  int     // among the question's terms
	Docs   int     // passages that have it
	IDF    float64 // how much it tells
	Prefix string  // how its other forms begin, where no passage has the term
	share  float64 // of what all asked terms tell
}

const (
	fewest      = 300 // passages that an index is taken to have: a small one cannot know which words are rare
	mostAsked   = 24  // terms of a prompt that are looked for: the rarest
	acrossWords = .25 // what a pair of characters tells that nobody wrote
	rareDocs    = 6   // passages that hold a rare term, or
	rareShare   = .01 // of all
)

// Ask reads a prompt. Before anything is ranked by it, its terms have to be weighed.
func Ask(prompt string, now time.Time) Query {
	days, rest, dated := language.FindTime(prompt, now)
	if dated {
		prompt = rest
	}
	return Query{Question: language.Ask(prompt), Days: days, Dated: dated}
}

// Weigh notes how telling each term is: in how many passages it stands, in the order of Terms, how many there are, and
// how many terms they have together.
func (q *Query) Weigh(docs []int, passages, terms float64) {
	q.texts = max(passages, fewest)
	q.average = max(terms/max(passages, 1), 4)
	for i, t := range q.Terms {
		a := Asked{Term: t, Place: i, Docs: docs[i]}
		if a.Docs == 0 && t.Part {
			continue // of an identifier that is asked for as a whole
		}
		a.IDF = math.Log(1 + (q.texts-float64(a.Docs)+.5)/(float64(a.Docs)+.5))
		if t.Pair {
			a.IDF /= 2
		}
		if t.Pair && a.Docs == 0 { // it may stand across two words
			a.IDF *= acrossWords
		}
		if a.Docs == 0 {
			a.Prefix = beginning(t.Forms[0])
			q.prefixes = q.prefixes || a.Prefix != ""
		}
		if !t.Common && !(t.Pair && a.Docs == 0) {
			q.content++
		}
		q.asked = append(q.asked, a)
	}
	slices.SortStableFunc(q.asked, func(a, b Asked) int { return cmp.Compare(b.IDF, a.IDF) })
	q.asked = q.asked[:min(len(q.asked), mostAsked)]
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

// Rarest gives the terms that passages are looked for by: from the rarest on, as long as no more passages have them
// together, but the rarest in any case. The commoner ones only count in what these find.
func (q *Query) Rarest(most int) []Asked {
	byDocs := slices.Clone(q.asked)
	slices.SortStableFunc(byDocs, func(a, b Asked) int { return cmp.Compare(a.Docs, b.Docs) })
	var list []Asked
	entries := 0
	for _, a := range byDocs {
		switch {
		case a.Docs == 0 && a.Prefix != "":
			list = append(list, a)
		case a.Docs == 0:
		case entries+a.Docs > most && entries > 0:
		default:
			entries += a.Docs
			list = append(list, a)
		}
	}
	return list
}

// rare reports whether a term stands in so few passages that it tells which of them are meant.
func (q *Query) rare(a Asked) bool { return float64(a.Docs) <= max(rareDocs, q.texts*rareShare) }

// find gives the place of a term among the asked ones, or -1.
func (q *Query) find(term []byte) int {
	if i, ok := q.at[string(term)]; ok {
		return i
	}
	if q.prefixes {
		for i, a := range q.asked {
			if a.Prefix != "" && bytes.HasPrefix(term, []byte(a.Prefix)) && len(term) <= len(a.Forms[0])+4 {
				return i
			}
		}
	}
	return -1
}

// Share is how much of what all its terms tell a term of a text tells; 0 if it is not asked for.
func (q *Query) Share(term string) float64 {
	if i := q.find([]byte(term)); i >= 0 {
		return q.asked[i].share
	}
	return 0
}

// beginning is how the other forms of a word begin that stands in no passage; empty for short ones, which begin too
// much.
func beginning(term string) string {
	n := utf8.RuneCountInString(term)
	if r, _ := utf8.DecodeRuneInString(term); n == 1 && r >= 0x2E80 {
		return term // a character that stands in many words
	}
	if n < 5 {
		return ""
	}
	runes := []rune(term)
	return string(runes[:max(4, n-2)])
}

// near says how near a time is to the days that a question names, from 0 to 1.
func (q *Query) near(at time.Time) float64 {
	if !q.Dated {
		return 0
	}
	from, to := q.Days.From, q.Days.To
	const day = 24 * time.Hour
	after, before := at.Sub(to), from.Sub(at)
	switch long := q.Days.Days() > 8; {
	case after < day && before <= day:
		return 1
	case long && after < 45*day && before <= 0:
		return .4
	case !long && after < 8*day && before <= 0:
		return .6
	case after < 20*day && before <= 20*day:
		return .2
	}
	return 0
}
