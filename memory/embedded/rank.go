package embedded

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// How passages are ranked. What answers a question often stands beside the words that it is asked in: a passage
// counts with its neighbours, and with the conversation that it is of. The weights were fitted on dialogues with
// questions, by halves, and rounded.

// Saturation of BM25: how fast it counts less that a term comes again, and how much a long passage has to say it more
// often.
const (
	saturation = .9
	lengthNorm = .4
)

// features of a candidate for a question, each 0 to 1 or little more.
type features struct {
	window   float64 // what it and its neighbours hold of the question
	before   float64 // it and what was said before it
	session  float64 // the conversation, beside the best
	answers  float64 // what the question before it holds
	terms    float64 // different terms of the question in it
	newNames float64 // names that the question has not, where it asks for one
	first    float64 // the speaker speaks of himself
	question float64 // it is one
	replies  float64 // it comes after one
	when     float64 // it has a time, and that is asked for
	many     float64 // a number
	date     float64 // it was said when the question says
	pairs    float64 // of words as the question has them
	speaker  float64 // it begins with a name that the question names
}

func (f features) score() float64 {
	return 4.5*math.Sqrt(f.window) + 3*f.before + 2.8*f.session + 2*f.answers + f.terms + f.newNames +
		.8*f.first - .9*f.question + .35*f.replies +
		2.3*f.when + 1.5*f.many + 5*f.date + .5*f.pairs + .9*f.speaker
}

// read notes what a candidate holds of the question, from the terms that the index keeps of it.
func (q *query) read(c *candidate, content, about []byte) {
	var counts [mostAsked]float64
	last, first := -1, true
	for len(content) > 0 {
		var term []byte
		term, content, _ = bytes.Cut(content, space)
		i := q.find(term)
		if i >= 0 {
			counts[i]++
			c.opens = c.opens || first && q.asked[i].Name
			if last >= 0 && i != last {
				c.pairs++
			}
		}
		last, first = i, false
	}
	for len(about) > 0 {
		var term []byte
		term, about, _ = bytes.Cut(about, space)
		if i := q.find(term); i >= 0 {
			counts[i] += .5
		}
	}
	norm := saturation * (1 - lengthNorm + lengthNorm*c.length/q.average)
	for i := range q.asked {
		n := counts[i]
		if n == 0 {
			continue
		}
		w := n * (1 + saturation) / (n + norm)
		c.weights[i] = float32(w)
		c.terms |= 1 << i
		c.own += q.asked[i].share * w
		c.matched++
		if q.asked[i].Name {
			c.shared++
		}
	}
}

var space = []byte(" ")

// find gives the place of a term among the asked ones, or -1.
func (q *query) find(term []byte) int {
	if i, ok := q.at[string(term)]; ok {
		return i
	}
	if q.prefixes {
		for i, a := range q.asked {
			if a.prefix != "" && bytes.HasPrefix(term, []byte(a.prefix)) && len(term) <= len(a.Forms[0])+4 {
				return i
			}
		}
	}
	return -1
}

// fades are how much a neighbour counts, by how far it is.
type fades [wideReach + 1]float32

func fading(by float64) (f fades) {
	for k := range f {
		f[k] = float32(math.Pow(by, float64(k)))
	}
	return f
}

var quickly, slowly = fading(.6), fading(.8)

// best gives what is most of the terms' weights at some places before and after the i-th of a thread, fading with
// distance.
func (q *query) best(thread []*candidate, i, back, ahead int, fade *fades) float64 {
	var most [mostAsked]float32
	for k := -min(back, i); k <= ahead && i+k < len(thread); k++ {
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

// rank scores candidates; the best come first.
func (s *Store) rank(q *query, all []*candidate, in search) []*candidate {
	slices.SortFunc(all, byPlace)
	sessions := q.sessions(all)
	ranked := make([]*candidate, 0, len(all))
	for start := 0; start < len(all); {
		end := start + 1
		for all[start].thread != 0 && end < len(all) && all[end].thread == all[start].thread {
			end++
		}
		thread := all[start:end]
		for i := range thread {
			c := thread[i]
			if !c.found {
				continue
			}
			c.features = q.features(thread, i)
			c.near = thread[max(i-reach, 0):min(i+reach+1, len(thread))]
			if c.thread != 0 {
				c.session = sessions[c.thread]
			} else {
				c.session = min(c.own, 1)
			}
			c.score = c.features.score() * c.standing()
			if !s.opts.KeepUnused {
				c.score *= c.usefulness()
			}
			if in.unasked {
				c.wide = q.best(thread, i, wideReach, wideReach, &slowly)
				c.met, c.named = q.met(c.near)
			}
		}
		start = end
	}
	for _, c := range all {
		if c.found {
			ranked = append(ranked, c)
		}
	}
	slices.SortStableFunc(ranked, byScore)
	return ranked
}

// byScore orders the best first, of equals the newer.
func byScore(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), b.created.Compare(a.created), cmp.Compare(b.id, a.id))
}

func (q *query) features(thread []*candidate, i int) features {
	c := thread[i]
	f := features{
		window: q.best(thread, i, reach, reach, &quickly),
		before: q.best(thread, i, reach, 0, &slowly),
		terms:  float64(min(c.matched, 4)) / 4,
		first:  float64(min(c.traits.first(), 2)) / 2,
		pairs:  float64(min(c.pairs, 2)) / 2,
		date:   q.near(c.created),
	}
	if c.traits.has(asks) {
		f.question = 1
	}
	if i > 0 && thread[i-1].traits.has(asks) {
		f.replies, f.answers = 1, thread[i-1].own
	}
	if q.When && c.traits.has(timed) {
		f.when = 1
	}
	if q.Many && c.traits.has(counts) {
		f.many = 1
	}
	if q.Who {
		f.newNames = float64(min(max(c.traits.names()-c.shared, 0), 2)) / 2
	}
	if c.opens {
		f.speaker = 1
	}
	return f
}

// sessions gives how much of the question each conversation holds, beside the best.
func (q *query) sessions(all []*candidate) map[int64]float64 {
	sums := map[int64]*[mostAsked]float64{}
	for _, c := range all {
		if c.thread == 0 {
			continue
		}
		sum := sums[c.thread]
		if sum == nil {
			sum = new([mostAsked]float64)
			sums[c.thread] = sum
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

// wideReach is how far the evidence may stand that a prompt is about something that was spoken of.
const wideReach = 8

// met gives how many different terms of the question stand in a passage and beside it, and whether an identifier is
// among them. Common words and pairs of characters count less.
func (q *query) met(near []*candidate) (n float64, named bool) {
	for t, a := range q.asked {
		if !holds(near, t) {
			continue
		}
		switch {
		case a.Common:
			n += .5
		case a.Pair:
			n += .7
		default:
			n++
		}
		named = named || a.Identifier && q.rare(a)
	}
	return n, named
}

// holds reports whether one of some passages has a term.
func holds(list []*candidate, term int) bool {
	return slices.ContainsFunc(list, func(c *candidate) bool { return c.terms>>term&1 == 1 })
}

// matched gives the words of the question that a passage or its neighbours have.
func (q *query) matched(c *candidate) []string {
	var words []string
	for t, a := range q.asked {
		if holds(c.near, t) {
			words = append(words, a.Word)
		}
	}
	return words
}

// standing is what a passage's score counts for, whatever it says: whose it is, and what people made of it.
func (c *candidate) standing() float64 {
	f := 1 + .1*c.rating
	switch c.whose {
	case 1:
		f *= .97
	case 2:
		f *= .8
	}
	return f
}

// byPlace orders candidates by conversation and their place in it.
func byPlace(a, b *candidate) int {
	return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.position, b.position), cmp.Compare(a.id, b.id))
}
