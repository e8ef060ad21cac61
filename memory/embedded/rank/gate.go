package rank

import (
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// A first prompt is told what concerns it, or nothing: memories that have nothing to do with it would mislead. These
// thresholds decide.

const (
	leastHeld  = .3 // the least share of the question that a passage must hold, after deductions
	againstNew = .5 // deducted for names that nobody ever said, by their share
	againstFew = .3 // deducted, divided by the number of terms: with few terms a match is more likely chance
	leastOfOne = .5 // the same as leastHeld, for a question with one term
	leastOfTwo = .6 // the same, where only one term and a common one match
	forOthers  = .5 // added there for words that nobody ever used, by their share: others may say the same
	bestOf     = 10 // of the best passages, how many may be the one that matches enough terms

	// Where work was done the agent mentions much in passing: half of what must be held is held where the user speaks.
	leastAtWork    = .3  // the least share of the prompt,
	leastToAnswer  = .35 // of a question, which may ask for what was never spoken of,
	leastOfOneWord = .6  // and of a question with one term
	againstUnused  = .5  // deducted for words that nobody ever used, by their share
)

// WorthTelling reports whether the best of what was found (ranked by Rank) concerns the prompt enough to be told
// without being asked for.
func (q *Query) WorthTelling(ranked []*Passage) bool {
	if len(ranked) == 0 {
		return false
	}
	if q.content == 0 {
		return q.Dated // "what did we do last week?"
	}
	held, byUser, met, named := 0.0, 0.0, 0.0, false
	for i, c := range ranked {
		held = max(held, c.wide)
		if c.ByUser {
			byUser = max(byUser, c.window)
		}
		if i < bestOf {
			met = max(met, c.met)
			named = named || c.named
		}
	}
	work := AtWork(ranked)
	if work {
		held = (held+byUser)/2 - againstUnused*q.neverUsed()
	} else {
		held -= againstNew*q.unknownNames() + againstFew/float64(len(q.asked))
	}
	switch {
	case met >= 2, met >= 1.4 && q.unspaced(), named:
		switch {
		case work && q.asking():
			return held > leastToAnswer
		case work:
			return held > leastAtWork
		}
		return held > leastHeld
	case met >= 1.5: // one term and a common one
		return held+forOthers*q.unused(ranked) > leastOfTwo && q.asking()
	case q.content == 1 && met >= 1 && work:
		return held > leastOfOneWord && q.asking()
	case q.content == 1 && met >= 1: // a question about one thing that was mentioned a few times
		return held > leastOfOne && (q.asking() || len(q.asked) == 1) &&
			!slices.ContainsFunc(q.asked, func(a Asked) bool { return !a.Common && !q.rare(a) })
	}
	return false
}

// AtWork reports whether most of the best passages were said where work was done.
func AtWork(ranked []*Passage) bool {
	n, best := 0, ranked[:min(len(ranked), bestOf)]
	for _, c := range best {
		if c.Traits.Has(passage.Works) {
			n++
		}
	}
	return 2*n > len(best)
}

// neverUsed is the share of the prompt that lies in words which nobody ever used. Of a prompt that is not in English,
// in which a project may speak all the same, names and identifiers alone count.
func (q *Query) neverUsed() (share float64) {
	for _, a := range q.asked {
		if a.Docs == 0 && (!q.Foreign || a.Name || a.Identifier) {
			share += a.share
		}
	}
	return share
}

// Unmet returns the terms of the prompt that stand somewhere in the index, and in none of what was found.
func (q *Query) Unmet(ranked []*Passage) []Asked {
	var met uint32
	for _, c := range ranked {
		met |= q.nearTerms(c.near)
	}
	var list []Asked
	for i, a := range q.asked {
		if a.Docs > 0 && met>>i&1 == 0 {
			list = append(list, a)
		}
	}
	return list
}

// Forget takes a term for one that nobody ever used: no passage has it that the session may see.
func (q *Query) Forget(unused Asked) {
	for i, a := range q.asked {
		if a.Place == unused.Place {
			q.asked[i].Docs = 0
		}
	}
}

// unspaced reports whether a question is in a script that sets no spaces.
func (q *Query) unspaced() bool {
	return !slices.ContainsFunc(q.asked, func(a Asked) bool { return !a.Pair })
}

// asking reports whether a prompt is a question.
func (q *Query) asking() bool { return q.Who || q.When || q.Many || q.Asks }

// unused is the share of the question that lies in words, other than names, which nobody ever used.
func (q *Query) unused(ranked []*Passage) (share float64) {
	var met uint32
	for _, c := range ranked {
		met |= q.nearTerms(c.near)
	}
	for i, a := range q.asked {
		if a.Docs == 0 && !a.Name && met>>i&1 == 0 { // words beginning like it may have matched
			share += a.share
		}
	}
	return share
}

// unknownNames is the share of the question's names that no passage has.
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
