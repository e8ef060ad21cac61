package embedded

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A query is what a prompt asks for, weighed by what the index knows.
type query struct {
	language.Question
	asked    []asked
	at       map[string]int // form → its place in asked
	prefixes bool           // some are looked for by how they begin
	rarest   string         // the same of its rarest terms
	match    string         // in FTS5's language; empty: no word to look for
	texts    float64        // passages in the index
	average  float64        // terms of one
	days     language.Range // that the prompt names
	dated    bool
	content  int // terms that are not common: what the prompt is about
}

// An asked term is one that is looked for.
type asked struct {
	language.Term
	docs   int     // passages that have it
	share  float64 // of what all asked terms tell
	idf    float64
	prefix string // how its other forms begin, where no passage has the term
}

const (
	fewest      = 300   // passages that an index is taken to have: a small one cannot know which words are rare
	mostAsked   = 24    // terms of a prompt that are looked for: the rarest
	acrossWords = .25   // what a pair of characters tells that nobody wrote
	fewPostings = 2_000 // the same, where something besides is looked for
	// entries of the index that are read; beyond them the commoner terms only count in what the others find
	mostPostings = 8_000
)

// ask weighs a prompt's terms: how telling one is, the index says.
func (s *Store) ask(ctx context.Context, text string) (query, error) {
	var q query
	days, rest, dated := language.FindTime(text, s.opts.Now())
	if dated {
		text = rest
	}
	q.Question, q.days, q.dated = language.Ask(text), days, dated
	df, err := s.frequencies(ctx, q.Terms)
	if err != nil {
		return q, err
	}
	var texts, terms float64
	if err := s.db.QueryRowContext(ctx, `SELECT passages, terms FROM passages_total`).Scan(&texts, &terms); err != nil {
		return q, err
	}
	q.texts = max(texts, fewest)
	q.average = max(terms/max(texts, 1), 4)
	for _, t := range q.Terms {
		a := asked{Term: t}
		for _, f := range t.Forms {
			a.docs = max(a.docs, df[f])
		}
		if a.docs == 0 && t.Part {
			continue // of an identifier that is asked for as a whole
		}
		a.idf = math.Log(1 + (q.texts-float64(a.docs)+.5)/(float64(a.docs)+.5))
		if t.Pair {
			a.idf /= 2
		}
		if t.Pair && a.docs == 0 { // it may stand across two words
			a.idf *= acrossWords
		}
		if a.docs == 0 {
			a.prefix = beginning(t.Forms[0])
			q.prefixes = q.prefixes || a.prefix != ""
		}
		if !t.Common && !(t.Pair && a.docs == 0) {
			q.content++
		}
		q.asked = append(q.asked, a)
	}
	slices.SortStableFunc(q.asked, func(a, b asked) int { return cmp.Compare(b.idf, a.idf) })
	q.asked = q.asked[:min(len(q.asked), mostAsked)]
	q.weigh()
	q.match, q.rarest = q.matching(mostPostings), q.matching(fewPostings)
	return q, nil
}

// weigh sets each term's share, and where it is looked up.
func (q *query) weigh() {
	total := 0.0
	for _, a := range q.asked {
		total += a.idf
	}
	q.at = map[string]int{}
	for i := range q.asked {
		q.asked[i].share = q.asked[i].idf / total
		for _, f := range q.asked[i].Forms {
			if _, ok := q.at[f]; !ok {
				q.at[f] = i
			}
		}
	}
}

// matching makes the query that finds candidates: any of the terms, from the rarest on.
func (q *query) matching(most int) string {
	byDocs := slices.Clone(q.asked)
	slices.SortStableFunc(byDocs, func(a, b asked) int { return cmp.Compare(a.docs, b.docs) })
	var match []string
	postings := 0
	for _, a := range byDocs {
		switch {
		case a.docs == 0 && a.prefix != "":
			match = append(match, quote(a.prefix)+"*")
		case a.docs == 0:
		case postings+a.docs > most && postings > 0:
		default:
			postings += a.docs
			for _, f := range a.Forms {
				match = append(match, quote(f))
			}
		}
	}
	if len(match) == 0 {
		return ""
	}
	return "{content context} : (" + strings.Join(match, " OR ") + ")"
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

// frequencies gives in how many passages each form of the terms stands.
func (s *Store) frequencies(ctx context.Context, terms []language.Term) (map[string]int, error) {
	var names []string
	for _, t := range terms {
		names = append(names, t.Forms...)
	}
	wanted, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	type count struct {
		term string
		docs int
	}
	counts, err := sqlite.Collect(ctx, s.db, func(row sqlite.Row) (c count, err error) {
		return c,
			row.Scan(&c.term, &c.docs)
	},
		`SELECT term, doc FROM json_each(?) JOIN passages_terms ON term = value`, string(wanted))
	if err != nil {
		return nil, err
	}
	df := make(map[string]int, len(counts))
	for _, c := range counts {
		df[c.term] = c.docs
	}
	return df, nil
}

// near says how near a time is to the days that a question names, from 0 to 1.
func (q *query) near(at time.Time) float64 {
	if !q.dated {
		return 0
	}
	from, to := q.days.From, q.days.To
	const day = 24 * time.Hour
	after, before := at.Sub(to), from.Sub(at)
	switch long := q.days.Days() > 8; {
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
