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

// isShortWord reports whether a passage is short, and the user's, in a turn in which work was done.
func (c *Passage) isShortWord() bool {
	return c.ByUser && c.Traits.Has(passage.Works) && c.Size < shortWords
}

// Words returns the short passages of the user among those that Rank has ranked, by how well they bear on the prompt;
// none where the best passages are talk.
func (q *Query) Words(ranked []*Passage) []*Passage {
	if !atWork(ranked) {
		return nil
	}
	words := slices.DeleteFunc(slices.Clone(ranked), func(c *Passage) bool { return !c.isShortWord() })
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

// Alternate makes one list of two, each passage once: the first of a, the first of b, the second of a, …
func Alternate(a, b []*Passage) []*Passage {
	list := make([]*Passage, 0, len(a)+len(b))
	known := map[int64]bool{}
	for i := range max(len(a), len(b)) {
		for _, from := range [][]*Passage{a, b} {
			if i < len(from) && !known[from[i].ID] {
				known[from[i].ID] = true
				list = append(list, from[i])
			}
		}
	}
	return list
}
