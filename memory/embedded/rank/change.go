package rank

import (
	"maps"
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
	maxLater    = 40          // of the best, how many may be what replaces them,
	maxFurther  = 20          // and how many of the others, if they tell a change
	sameTalk    = time.Minute // passages of a conversation that are this close belong together: none replaces another
)

// Comparable returns those of the ranked passages that Supersede compares: the best, and those further down that tell a
// change; none, if no passage tells one. texts are those of them whose text it needs.
func Comparable(ranked []*Passage) (list, texts []*Passage) {
	list = slices.Clone(ranked[:min(len(ranked), maxLater)])
	for _, p := range ranked[len(list):] {
		if p.Traits.Has(passage.Changes) && len(list) < maxLater+maxFurther {
			list = append(list, p)
		}
	}
	if !slices.ContainsFunc(list, func(p *Passage) bool { return p.Traits.Has(passage.Changes) }) {
		return nil, nil
	}
	for i, p := range list {
		if i < maxReplaced || p.Traits.Has(passage.Changes) {
			texts = append(texts, p)
		}
	}
	return list, texts
}

// Supersede puts newer passages before those that they replace. It sorts ranked; list are those of them that Comparable
// gave, and texts the texts that it asked for, by id.
func (q *Query) Supersede(ranked, list []*Passage, texts map[int64]string) {
	said := make([]*statement, len(list))
	for i, p := range list {
		said[i] = stated(p, texts[p.ID])
	}
	common := commonTerms(said)
	changed := false
	for i, old := range said[:min(len(said), maxReplaced)] {
		if old.Traits.Has(passage.Asks) {
			continue
		}
		if by := q.replacing(said, i, common); by != nil {
			by.Score = max(by.Score, old.Score+.01)
			old.By = by.Passage
			changed = true
		}
	}
	if changed {
		slices.SortStableFunc(ranked, byScore)
	}
}

// commonTerms returns those of the terms that say what a change is about, by whether many passages have them.
func commonTerms(said []*statement) language.Set {
	holding := map[string]*tally{} // in how many passages each of them stands
	for _, s := range said {
		for _, t := range s.terms {
			holding[t] = new(tally)
		}
	}
	different := map[string]bool{}
	for _, s := range said {
		if different[s.content] {
			continue
		}
		different[s.content] = true
		for t := range strings.FieldsSeq(s.content) {
			if h := holding[t]; h != nil && h.last != s {
				h.n, h.last = h.n+1, s
			}
		}
	}
	common := language.Set{}
	for t, h := range holding {
		common[t] = h.n > max(4, len(different)/8)
	}
	return common
}

// replacing returns the newest of the statements that replace the one at i, nil for none.
func (q *Query) replacing(said []*statement, i int, common language.Set) (by *statement) {
	for j, newer := range said {
		if j != i && (by == nil || newer.later(by)) && q.replaces(newer, said[i], common) {
			by = newer
		}
	}
	return by
}

// Replaced returns those of list that are no longer true since what by says. texts has the texts of all, by id.
func (q *Query) Replaced(by *Passage, list []*Passage, texts map[int64]string) []*Passage {
	this := stated(by, texts[by.ID])
	var replaced []*Passage
	for _, p := range list {
		if p != by && q.replaces(this, stated(p, texts[p.ID]), nil) {
			replaced = append(replaced, p)
		}
	}
	return replaced
}

// A tally counts the passages that have a term; last is the one counted last.
type tally struct {
	n    int
	last *statement
}

// A statement is a passage with what it is compared by.
type statement struct {
	*Passage
	text   string
	terms  []string     // what it is about; set where it tells a change
	values []string     // numbers, which may be what changed
	said   language.Set // the result of about
	gone   language.Set // the result of replaced
}

func stated(p *Passage, text string) *statement {
	s := &statement{Passage: p, text: text}
	for t := range strings.FieldsSeq(p.content) {
		if strings.ContainsAny(t, "0123456789") {
			s.values = append(s.values, t)
		} else if p.changes() && !language.Common(t) {
			s.terms = append(s.terms, t)
		}
	}
	slices.Sort(s.terms)
	s.terms = slices.Compact(s.terms)
	return s
}

// changes reports whether a passage says, and does not ask, that something is not as it was.
func (p *Passage) changes() bool { return p.Traits.Has(passage.Changes) && !p.Traits.Has(passage.Asks) }

// about returns the terms of the sentences that have a term of the question, or else of the first sentence.
func (s *statement) about(q *Query) language.Set {
	if s.said != nil {
		return s.said
	}
	s.said = language.Set{}
	var first []string
	for i, sentence := range language.SplitSentences(s.text) {
		terms := language.Terms(sentence)
		if slices.ContainsFunc(terms, func(t string) bool { return q.find([]byte(t)) >= 0 }) {
			maps.Copy(s.said, language.SetOf(terms))
		}
		if i == 0 {
			first = terms
		}
	}
	if len(s.said) == 0 {
		s.said = language.SetOf(first)
	}
	maps.DeleteFunc(s.said, func(t string, _ bool) bool { return language.Common(t) })
	return s.said
}

// replaced returns the terms of what it says is no longer used.
func (s *statement) replaced() language.Set {
	if s.gone == nil && s.Traits.Has(passage.Changes) {
		s.gone = language.SetOf(passage.Replaced(s.text))
	}
	return s.gone
}

// mayReplace reports whether s tells a change, and one of what was said in a. Where work was done only the user's words
// are a change: an agent reports changes all the time.
func (s *statement) mayReplace(a *statement) bool {
	together := s.Thread != 0 && s.Thread == a.Thread && s.Created.Sub(a.Created) < sameTalk
	return s.changes() && s.Whose == a.Whose && s.later(a) && !together && (s.ByUser || !a.Traits.Has(passage.Works))
}

// replaces reports whether what a says is no longer true since what s says. common are terms that many of the passages
// have.
func (q *Query) replaces(s, a *statement, common language.Set) bool {
	if !s.mayReplace(a) {
		return false
	}
	about, replaced := a.about(q), s.replaced()
	telling, asked, gone := 0, false, false
	for _, t := range s.terms {
		if !about[t] {
			continue
		}
		if wanted := q.find([]byte(t)) >= 0; !common[t] || wanted && replaced[t] {
			telling++
			gone = gone || replaced[t]
			asked = asked || wanted
		}
	}
	values := len(s.values) > 0 && len(a.values) > 0
	return telling >= 2 || telling == 1 && (values || asked || gone)
}

// later reports whether s was said after a.
func (s *statement) later(a *statement) bool {
	if s.Created.Equal(a.Created) {
		return s.ID > a.ID
	}
	return s.Created.After(a.Created)
}

// WithReplacing returns passages, and those that replace them.
func WithReplacing(list []*Passage) []*Passage {
	all := slices.Clone(list)
	for _, p := range list {
		if p.By != nil {
			all = append(all, p.By)
		}
	}
	return all
}
