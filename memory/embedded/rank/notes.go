package rank

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
)

// What was stored on purpose is ranked among its own kind: among all that was said it would drown.

const (
	minOfNote   = .3 // the least share of the prompt's words that a note has,
	wordsOfNote = 2  // and how many of them
)

// Notes returns the notes that concern the prompt, best first: they have enough of its words, one of which tells
// what it is about, or what it names. lists
// has, by the place of a term in Terms, the ids of the notes with it.
func (q *Query) Notes(lists [][]int64) []int64 {
	met := map[int64]uint32{}
	said, telling := 0.0, uint32(0)
	for i, a := range q.asked {
		if a.Part {
			continue
		}
		said++
		if !a.Common {
			telling |= 1 << i
		}
		for _, id := range lists[a.Place] {
			met[id] |= 1 << i
		}
	}
	held := map[int64]float64{}
	for id, terms := range met {
		n := bits.OnesCount32(terms)
		if share := float64(n) / said; n >= wordsOfNote && share >= minOfNote && terms&telling != 0 ||
			q.names(terms) {
			held[id] = share
		}
	}
	return slices.SortedFunc(maps.Keys(held), func(a, b int64) int {
		return cmp.Or(cmp.Compare(held[b], held[a]), cmp.Compare(b, a))
	})
}

// names reports whether one of some asked terms is a name or an identifier that few passages have: it tells which of
// them are meant.
func (q *Query) names(terms uint32) bool {
	for i, a := range q.asked {
		if terms>>i&1 == 1 && (a.Identifier || a.Name && !q.Nouns) &&
			float64(a.Docs) <= max(rareDocs, q.texts*rareShare) {
			return true
		}
	}
	return false
}
