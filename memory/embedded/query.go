package embedded

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A query is what a prompt asks for.
type query struct {
	asked []asked
	size  float64  // of the index, in memories
	match []string // strings of FTS5's language; none: nothing to look for
}

// asked is an informative term of a prompt.
type asked struct {
	term   string
	looks  float64 // how much it tells by its looks
	weight float64 // and by how rare it is
	near   string  // where nothing holds the term itself: what terms like it begin with
	docs   int     // that hold it
	loose  bool    // counts only where the index has it: an identifier of which the parts are asked, too, or a pair that may be no word
}

const (
	mostAsked    = 24    // terms of a prompt that are looked for
	mostPostings = 10000 // that a search reads: common words go first
	fewest       = 200   // memories that the frequency of a word is measured against, at least
)

// How much a word tells by its looks: names and identifiers more than what any sentence may hold.
const (
	asName   = 1.5
	asWord   = 1.0
	asPair   = 0.5 // of CJK characters, many of which belong to no word
	asCommon = 0.3
	asOther  = 0.8 // of a plain word that stands in no memory: another may mean the same
)

// ask picks a prompt's informative terms. How telling a word is says the index; for words that say little in any collection there are lists, because a
// small index cannot know.
func (s *Store) ask(ctx context.Context, text string) (query, error) {
	var q query
	list := lookFor(text)
	if len(list) == 0 {
		return q, nil
	}
	df, total, err := s.frequencies(ctx, list)
	if err != nil {
		return q, err
	}
	q.size = float64(max(total, fewest))
	for i := range list {
		a := &list[i]
		a.docs = df[a.term]
		a.weight = a.looks * rarity(q.size, a.docs)
		if a.docs == 0 {
			a.near = beginning(a.term)
			if a.looks == asWord {
				a.weight *= asOther
			}
		}
	}
	list = slices.DeleteFunc(list, func(a asked) bool { return a.loose && a.docs == 0 })
	slices.SortStableFunc(list, func(a, b asked) int { return cmp.Compare(b.weight, a.weight) })
	q.asked = list[:min(len(list), mostAsked)]
	byDocs := slices.Clone(q.asked)
	slices.SortStableFunc(byDocs, func(a, b asked) int { return cmp.Compare(a.docs, b.docs) })
	postings := 0
	for _, a := range byDocs {
		switch {
		case a.docs == 0 && a.near != "":
			q.match = append(q.match, quote(a.near)+"*")
		case a.docs == 0:
		case postings+a.docs > mostPostings && len(q.match) > 0:
		default:
			postings += a.docs
			q.match = append(q.match, quote(a.term))
		}
	}
	return q, nil
}

// rarity says how telling a term is that docs of size memories hold.
func rarity(size float64, docs int) float64 { return math.Log(1 + size/(float64(docs)+1)) }

// lookFor gives the different terms of a text that are no stop words, weighed by their looks.
func lookFor(text string) []asked {
	var list []asked
	add := func(term string, looks float64, loose bool) {
		if stopped()[term] || slices.ContainsFunc(list, func(a asked) bool { return a.term == term }) || len(list) >= 8*mostAsked {
			return
		}
		if common()[term] {
			looks = asCommon
		}
		list = append(list, asked{term: term, looks: looks, loose: loose})
	}
	end := 0 // of the word before
	for _, w := range words(text) {
		start := end + strings.Index(text[end:], string(w))
		first := opens(text[:start])
		end = start + len(w)
		if r, _ := utf8.DecodeRuneInString(string(w)); wide(r) {
			addRun([]rune(string(w)), func(pair string, loose bool) { add(pair, asPair, loose) })
			continue
		}
		terms := w.terms()
		if len(terms) > 1 { // an identifier: the parts of one are common words
			for i, t := range terms {
				add(t, asWord, i == len(terms)-1)
			}
			continue
		}
		for _, t := range terms {
			add(t, looks(string(w), first), false)
		}
	}
	return list
}

// looks weighs a word: capitals inside a sentence, digits and inner capitals make a name.
func looks(w string, first bool) float64 {
	for i, r := range w {
		if unicode.IsDigit(r) || unicode.IsUpper(r) && (i > 0 || !first) {
			return asName
		}
	}
	return asWord
}

// opens reports whether what follows text begins a sentence.
func opens(text string) bool {
	text = strings.TrimRight(text, " \t\n\r\"'([{*`#>-")
	return text == "" || strings.ContainsAny(text[len(text)-1:], ".!?:")
}

// addRun gives the pairs of a CJK run that may tell something. No spaces say where words end: 用 is one that asks, and a part of 用户. So a pair of which
// half belongs to a word that only asks, or is a Japanese ending, is loose, and one that is within such words says nothing.
func addRun(run []rune, add func(pair string, loose bool)) {
	asks := make([]bool, len(run))
	for i := range run {
		for n := 1; n <= longestAsking && i+n <= len(run); n++ {
			if askingWords()[string(run[i:i+n])] {
				for j := i; j < i+n; j++ {
					asks[j] = true
				}
			}
		}
	}
	for i, pair := range pairs(run) {
		end := min(i+1, len(run)-1)
		if !grammar(pair) && !(asks[i] && asks[end]) {
			add(pair, asks[i] || asks[end] || unicode.Is(unicode.Hiragana, run[i]) || unicode.Is(unicode.Hiragana, run[end]))
		}
	}
}

// grammar reports whether a pair is of the script in which Japanese writes its endings.
func grammar(pair string) bool {
	return strings.IndexFunc(pair, func(r rune) bool { return !unicode.Is(unicode.Hiragana, r) }) < 0
}

// beginning is how the other forms of a word begin that stands in no memory; empty for short ones, which begin too much.
func beginning(term string) string {
	runes := []rune(term)
	if len(runes) < 5 || wide(runes[0]) {
		return ""
	}
	return string(runes[:max(4, len(runes)-2)])
}
