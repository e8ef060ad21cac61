package rank

import (
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// What was true once is told from what is true now by what was said later: a passage that says that something changed
// about the same thing. After ranking, such a passage is put before the one that it replaces, whatever the words of the
// question: old facts were often discussed at length, and changed in one short sentence.

const (
	maxReplaced = 12          // of the best passages, how many are checked for being outdated
	maxChanges  = 40          // passages that may be what replaces them: those that tell a change
	maxCompared = 40          // of the best, how many say which terms are common
	sameTalk    = time.Minute // passages of a conversation that are this close belong together: none replaces another
)

// Changes returns the best of the ranked passages that tell a change: Supersede reads their texts.
func Changes(ranked []*Passage) (list []*Passage) {
	for _, p := range ranked {
		if p.changes() && len(list) < maxChanges {
			list = append(list, p)
		}
	}
	return list
}

// changes reports whether a passage says, and does not ask, that something is not as it was.
func (p *Passage) changes() bool { return p.Traits.Has(passage.Changes) && !p.Traits.Has(passage.Asks) }

// Supersede puts newer passages before those that they replace. It sorts ranked; changes are those of them that Changes
// returned, and texts their texts, by id.
func (q *Query) Supersede(ranked, changes []*Passage, texts map[int64]string) {
	newer := make([]*statement, len(changes))
	for i, p := range changes {
		newer[i] = newStatement(p, texts[p.ID])
	}
	best := ranked[:min(len(ranked), maxCompared)]
	common := commonTerms(newer, best)
	for _, old := range best[:min(len(best), maxReplaced)] {
		was := newStatement(old, "")
		for _, s := range newer {
			if (old.By == nil || s.later(old.By)) && q.replaces(s, was, common) {
				old.By = s.Passage
			}
		}
		if old.By != nil {
			old.By.Score = max(old.By.Score, old.Score+.01)
		}
	}
	slices.SortStableFunc(ranked, byScore)
}

// Replaced returns those of list that are no longer true since what by says.
func (q *Query) Replaced(by *Passage, text string, list []*Passage) []*Passage {
	this := newStatement(by, text)
	return slices.DeleteFunc(slices.Clone(list), func(p *Passage) bool {
		return p == by || !q.replaces(this, newStatement(p, ""), nil)
	})
}

// commonTerms returns those of the terms that say what a change is about that many of the passages have.
func commonTerms(changes []*statement, all []*Passage) language.Set {
	holding, last := map[string]int{}, map[string]*Passage{} // how many passages have a term, and which was the last
	for _, s := range changes {
		for t := range s.terms {
			holding[t] = 0
		}
	}
	different := map[string]bool{} // what is repeated and again is not what many say
	for _, p := range all {
		if different[p.content] {
			continue
		}
		different[p.content] = true
		for t := range strings.FieldsSeq(p.content) {
			if n, looked := holding[t]; looked && last[t] != p {
				holding[t], last[t] = n+1, p
			}
		}
	}
	common := language.Set{}
	for t, n := range holding {
		common[t] = n > max(4, len(different)/8)
	}
	return common
}

// A statement is a passage with what it is compared by.
type statement struct {
	*Passage
	terms   language.Set // what it is about
	numbers bool         // it has some, which may be what changed
	gone    language.Set // of a change: the terms of what is no longer used
}

// newStatement reads a passage. Of one that tells no change the text is not needed.
func newStatement(p *Passage, text string) *statement {
	s := &statement{Passage: p, terms: language.Set{}, gone: language.SetOf(passage.Replaced(text))}
	for t := range strings.FieldsSeq(p.content) {
		if strings.ContainsAny(t, "0123456789") {
			s.numbers = true
		} else if !language.Common(t) {
			s.terms[t] = true
		}
	}
	return s
}

// mayReplace reports whether s tells a change, and one of what was said in a. Where work was done only the user's words
// are a change: an agent reports changes all the time.
func (s *statement) mayReplace(a *statement) bool {
	together := s.Thread != 0 && s.Thread == a.Thread && s.Created.Sub(a.Created) < sameTalk
	return s.changes() && s.Whose == a.Whose && s.later(a.Passage) && !together &&
		(s.ByUser || !a.Traits.Has(passage.Works))
}

// replaces reports whether what a says is no longer true since what s says. common are terms that many of the passages
// have: they tell only where the question asks for them and s says that they are gone.
func (q *Query) replaces(s, a *statement, common language.Set) bool {
	if !s.mayReplace(a) {
		return false
	}
	telling, gone := 0, false
	for t := range s.terms {
		if a.terms[t] && (!common[t] || s.gone[t] && q.find([]byte(t)) >= 0) {
			telling++
			gone = gone || s.gone[t]
		}
	}
	return telling >= 2 || telling == 1 && (s.numbers && a.numbers || gone)
}

// later reports whether s was said after p.
func (s *statement) later(p *Passage) bool {
	if s.Created.Equal(p.Created) {
		return s.ID > p.ID
	}
	return s.Created.After(p.Created)
}
