package rank

import "slices"

// A first prompt is told what concerns it, or nothing: what was not asked for must not be foreign.

const (
	leastHeld  = .3 // of what a question's terms tell, less what speaks against it
	againstNew = .5 // the share of its names that nobody ever said
	againstFew = .3 // by the number of its terms: one that is met says little where there are few
	leastOfOne = .5 // the same, of a question with one term
	leastOfTwo = .6 // of one that meets a common term besides
	forOthers  = .5 // and to that, of what its words tell that nobody ever used: there may be others for the same
	bestOf     = 10 // passages of which one must meet two terms
)

// WorthTelling reports whether the best of what was found concerns the prompt enough to be told unasked.
func (q *Query) WorthTelling(ranked []*Passage) bool {
	if len(ranked) == 0 {
		return false
	}
	if q.content == 0 {
		return q.Dated // "what did we do last week?"
	}
	held, met, named := 0.0, 0.0, false
	for i, c := range ranked {
		held = max(held, c.wide)
		if i < bestOf {
			met = max(met, c.met)
			named = named || c.named
		}
	}
	held -= againstNew*q.unknownNames() + againstFew/float64(len(q.asked))
	switch {
	case met >= 2, met >= 1.4 && q.unspaced(), named:
		return held > leastHeld
	case met >= 1.5: // one that tells, and a common one
		return held+forOthers*q.unused(ranked) > leastOfTwo && q.asking()
	case q.content == 1 && met >= 1: // a question about one thing that was spoken of a few times
		return held > leastOfOne && (q.asking() || len(q.asked) == 1) &&
			!slices.ContainsFunc(q.asked, func(a Asked) bool { return !a.Common && !q.rare(a) })
	}
	return false
}

// unspaced reports whether a question is in a script that sets no spaces.
func (q *Query) unspaced() bool {
	return !slices.ContainsFunc(q.asked, func(a Asked) bool { return !a.Pair })
}

// asking reports whether a prompt is a question.
func (q *Query) asking() bool { return q.Who || q.When || q.Many || q.Asks }

// unused is the share of a question's words that nobody ever used, names aside, in all that its terms tell.
func (q *Query) unused(ranked []*Passage) (share float64) {
	var met uint32
	for _, c := range ranked {
		met |= q.nearTerms(c.near)
	}
	for i, a := range q.asked {
		if a.Docs == 0 && !a.Name && met>>i&1 == 0 { // it may have been found by how it begins
			share += a.share
		}
	}
	return share
}

// unknownNames is the share of a question's names that the index does not know.
func (q *Query) unknownNames() float64 {
	if q.Nouns {
		return 0
	}
	names, unknown := 0.0, 0.0
	for _, a := range q.asked {
		if a.Name {
			names++
			if a.Docs == 0 {
				unknown++
			}
		}
	}
	if names == 0 {
		return 0
	}
	return unknown / names
}
