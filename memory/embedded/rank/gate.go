package rank

import (
	"math/bits"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// A first prompt is told what concerns it, or nothing: memories that have nothing to do with it would mislead. These
// thresholds decide.

const (
	minHeld       = .28 // the least share of the prompt that must be held in talk, after deductions
	againstNew    = .5  // deducted for names that nobody ever said, by their share
	againstFew    = .3  // deducted, divided by the number of terms: with few terms a match is more likely chance
	minAtWork     = .7  // what the share must reach where work was done, with the words that stand together
	againstUnused = .5  // deducted there for words that nobody ever used, by their share
	forEachWord   = .1  // added there for each different word of the prompt in one passage,
	maxTogether   = 4   // up to so many
	minAsked      = .6  // share of a question that an earlier one of the user's holds, to be the same,
	wordsAsked    = 2   // with so many words that say what it is about
	bestOf        = 10  // of the best passages, those that say whether it is work
)

// WorthTelling reports whether the best of what was found (ranked by Rank) concerns the prompt enough to be told
// without being asked for. Where work was done the agent mentions much in passing: half of what must be held is held
// where the user speaks; and prompts are full of words that any project has, so common ones hold half.
func (q *Query) WorthTelling(ranked []*Passage) bool {
	if len(ranked) == 0 {
		return false
	}
	if q.Telling == 0 {
		return q.Dated // "what did we do last week?"
	}
	held, byUser, together := 0.0, 0.0, 0
	for _, c := range ranked {
		held = max(held, c.window)
		if c.ByUser {
			byUser = max(byUser, c.window)
		}
		together = max(together, bits.OnesCount32(c.terms))
	}
	if !atWork(ranked) {
		return held-againstNew*q.unknownNames()-againstFew/float64(len(q.asked)) > minHeld
	}
	if q.askedBefore(ranked) {
		return true
	}
	held = (held + byUser) / 2 * (1 + q.uncommon()) / 2
	return held-againstUnused*q.neverUsed()+forEachWord*float64(min(together, maxTogether)) > minAtWork
}

// askedBefore reports whether the prompt is a question that the user has asked in other words: what was answered then
// is told, however little of it is the user's.
func (q *Query) askedBefore(ranked []*Passage) bool {
	return q.Asks && slices.ContainsFunc(ranked, func(c *Passage) bool {
		if !c.ByUser || !c.Traits.Has(passage.Asks) {
			return false
		}
		held, telling := 0.0, 0
		for i, a := range q.asked {
			if c.terms>>i&1 == 1 {
				if held += a.share; !a.Common {
					telling++
				}
			}
		}
		return held >= minAsked && telling >= wordsAsked
	})
}

// uncommon is the share of the prompt that lies in words which say what it is about.
func (q *Query) uncommon() (share float64) {
	for _, a := range q.asked {
		if !a.Common {
			share += a.share
		}
	}
	return share
}

// atWork reports whether most of the best passages were said where work was done.
func atWork(ranked []*Passage) bool {
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
