package rank

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// Where work is done the user says little and the agent much, and what the user says is dense: what is wanted, what was
// decided, how it is to be done. So short passages of the user are ranked by themselves, those of the sessions that fit
// best also where they share no word with the prompt.

const (
	BestSessions = 4   // of these all short passages of the user are ranked
	shortWords   = 400 // bytes of a passage that is short
)

// isShortWord reports whether a passage is short, and the user's, in a turn in which work was done.
func (c *Passage) isShortWord() bool {
	return c.ByUser && c.Traits.Has(passage.Works) && c.Size < shortWords
}

// Sessions returns the conversations that hold most of the question, the best first.
func (q *Query) Sessions() []int64 {
	best := slices.SortedFunc(maps.Keys(q.held), func(a, b int64) int {
		return cmp.Or(cmp.Compare(q.held[b], q.held[a]), cmp.Compare(b, a))
	})
	return best[:min(len(best), BestSessions)]
}

// Words returns the short passages of the user among all that Rank has seen and more, which it has not, by how well
// they bear on the prompt.
func (q *Query) Words(all, more []*Passage) []*Passage {
	known := map[int64]bool{}
	all = slices.DeleteFunc(slices.Concat(all, more), func(c *Passage) bool {
		twice := known[c.ID]
		known[c.ID] = true
		return twice
	})
	slices.SortFunc(all, ByPlace)
	var words []*Passage
	for thread := range threads(all) {
		for i, c := range thread {
			if !c.isShortWord() {
				continue
			}
			c.near = thread[max(i-Reach, 0):min(i+Reach+1, len(thread))]
			c.bearing = c.own + .5*math.Sqrt(q.best(thread, i, Reach, Reach, &quickly)) + .5*q.held[c.Thread]
			if c.Traits.Has(passage.Directs) {
				c.bearing += .2
			}
			words = append(words, c)
		}
	}
	slices.SortFunc(words, func(a, b *Passage) int {
		return cmp.Or(cmp.Compare(b.bearing, a.bearing), b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	return words
}

// SamePart reports whether two passages stand in the same part of a turn: neighbours that one side said in one go.
func (c *Passage) SamePart(other *Passage) bool {
	return c.Turn != 0 && c.Turn == other.Turn && c.ByUser == other.ByUser &&
		(c.Traits^other.Traits)&(passage.Narrates|passage.Plans) == 0
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
