// Package rank decides which passages answer a prompt, and whether they are worth telling. It only computes: package
// embedded looks up the passages and tells them.
package rank

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// What answers a question often stands beside the words that it is asked in: a passage is ranked together with its
// neighbours, and with its conversation.

// Reach is how many passages on each side of one count as its neighbours.
const Reach = 3

// fading returns the weights of neighbours, by their distance.
func fading(by float64) (f [Reach + 1]float32) {
	for k := range f {
		f[k] = float32(math.Pow(by, float64(k)))
	}
	return f
}

var quickly, slowly = fading(.6), fading(.8)

// best returns the share of the question that the i-th passage of a thread and its neighbours hold: all before it, and
// ahead of those behind. Of each term the passage counts that holds most of it, less with distance.
func (q *Query) best(thread []*Passage, i, ahead int, fade *[Reach + 1]float32) float64 {
	var most [maxAsked]float32
	for k := -min(Reach, i); k <= ahead && i+k < len(thread); k++ {
		c, f := thread[i+k], fade[max(k, -k)]
		for left := c.terms; left != 0; left &= left - 1 {
			t := bits.TrailingZeros32(left)
			most[t] = max(most[t], c.weights[t]*f)
		}
	}
	sum := 0.0
	for t := range q.asked {
		sum += q.asked[t].share * float64(most[t])
	}
	return sum
}

// Rank scores passages and returns those that were found by their own words, the best first. all also holds their
// neighbours.
func (q *Query) Rank(all []*Passage) []*Passage {
	slices.SortFunc(all, ByPlace)
	q.held = q.sessions(all)
	ranked := make([]*Passage, 0, len(all))
	for left := all; len(left) > 0; {
		n := 1 // passages of a conversation, or what stands alone
		for n < len(left) && left[0].Thread != 0 && left[n].Thread == left[0].Thread {
			n++
		}
		thread := left[:n]
		left = left[n:]
		for i, c := range thread {
			if !c.Found {
				continue
			}
			c.features = q.features(thread, i)
			c.near = thread[max(i-Reach, 0):min(i+Reach+1, len(thread))]
			if c.session = q.held[c.Thread]; c.Thread == 0 {
				c.session = min(c.Own, 1)
			}
			c.Score = c.features.score() * c.weight()
			ranked = append(ranked, c)
		}
	}
	slices.SortStableFunc(ranked, byScore)
	return ranked
}

// Prefer multiplies the scores of passages, and how much they bear on the prompt, by numbers by their ids.
func Prefer(ranked []*Passage, worths map[int64]float64) {
	for _, p := range ranked {
		if by, known := worths[p.ID]; known {
			if p.Score > 0 {
				p.Score *= by
			}
			p.Own *= by
		}
	}
	slices.SortStableFunc(ranked, byScore)
}

// byScore orders by score, the best first, of equal ones the newer.
func byScore(a, b *Passage) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
}

func (q *Query) features(thread []*Passage, i int) features {
	const day = 24 * time.Hour
	c := thread[i]
	f := features{
		window:   q.best(thread, i, Reach, &quickly),
		before:   q.best(thread, i, 0, &slowly),
		pairs:    float64(min(c.pairs, 2)) / 2,
		date:     share(q.Dated && c.Created.Sub(q.Days.To) < day && q.Days.From.Sub(c.Created) <= day),
		question: share(c.Traits.Has(passage.Asks)),
	}
	if i > 0 && thread[i-1].Traits.Has(passage.Asks) {
		f.answers = thread[i-1].Own
	}
	if c.Turn == 0 {
		first, _, _ := strings.Cut(c.content, " ")
		name := q.find([]byte(first))
		f.speaker = share(name >= 0 && q.asked[name].Name)
		f.replies = share(i > 0 && thread[i-1].Traits.Has(passage.Asks))
	}
	if c.Traits.Has(passage.Narrates) {
		f.place = 2
	}
	return f
}

// share is a feature that holds or does not.
func share(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// sessions returns the share of the question that each conversation holds, relative to the best one.
func (q *Query) sessions(all []*Passage) map[int64]float64 {
	sums := map[int64]*[maxAsked]float64{}
	for _, c := range all {
		if c.Thread == 0 {
			continue
		}
		sum := sums[c.Thread]
		if sum == nil {
			sum = new([maxAsked]float64)
			sums[c.Thread] = sum
		}
		for left := c.terms; left != 0; left &= left - 1 {
			t := bits.TrailingZeros32(left)
			sum[t] += float64(c.weights[t])
		}
	}
	best := 1e-9
	scores := make(map[int64]float64, len(sums))
	for thread, sum := range sums {
		score := 0.0
		for t := range q.asked {
			f := sum[t]
			score += q.asked[t].share * f * (1 + saturation) / (f + saturation)
		}
		scores[thread] = score
		best = max(best, score)
	}
	for thread := range scores {
		scores[thread] /= best
	}
	return scores
}

// Matched returns the words of the question that a passage or its neighbours have.
func (q *Query) Matched(c *Passage) []string {
	var words []string
	for t, a := range q.asked {
		if slices.ContainsFunc(c.near, func(p *Passage) bool { return p.terms>>t&1 == 1 }) {
			words = append(words, a.Word)
		}
	}
	return words
}

// weight is the factor for a passage's score that does not depend on the question: whose it is, and how people rated
// it.
func (c *Passage) weight() float64 {
	f := 1 + .1*c.Rating
	switch c.Whose {
	case noProject:
		f *= .97
	case otherProject:
		f *= .8
	}
	return f
}

// ByPlace orders passages by conversation and their place in it.
func ByPlace(a, b *Passage) int {
	return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
}
