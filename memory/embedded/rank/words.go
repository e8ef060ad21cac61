package rank

import (
	"cmp"
	"math"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// Where work is done the user says little and the agent much, and what the user says is dense: what is wanted, what was
// decided, how it is to be done. So short passages of the user are ranked by themselves.

const shortWords = 400 // bytes of a passage that is short

// Words returns the short passages of the user among those that Rank has ranked, by how well they bear on the prompt;
// none where the best passages are talk.
func (q *Query) Words(ranked []*Passage) []*Passage {
	if !atWork(ranked) {
		return nil
	}
	words := slices.DeleteFunc(slices.Clone(ranked), func(c *Passage) bool {
		return !c.ByUser || !c.Traits.Has(passage.Works) || c.Size >= shortWords
	})
	for _, c := range words {
		c.bearing = c.Own + .5*math.Sqrt(c.window) + .5*q.held[c.Thread]
		if c.Traits.Has(passage.Directs) {
			c.bearing += .2
		}
	}
	slices.SortFunc(words, func(a, b *Passage) int {
		return cmp.Or(cmp.Compare(b.bearing, a.bearing), b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	return words
}

// Alternate makes one list of several, of those that are the same the first: the first of each, the second of each, …
func Alternate[T any, K comparable](same func(T) K, lists ...[]T) (all []T) {
	known := map[K]bool{}
	for i, left := 0, true; left; i++ {
		left = false
		for _, from := range lists {
			if i >= len(from) {
				continue
			}
			if left = true; !known[same(from[i])] {
				known[same(from[i])] = true
				all = append(all, from[i])
			}
		}
	}
	return all
}
