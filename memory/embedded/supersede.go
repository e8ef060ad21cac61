package embedded

import (
	"context"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
)

// What was true once is told apart from what is true by what was said later: a passage that says that something
// changed, about the same thing. After ranking, such a passage is put before what it replaces, whatever words the
// question has: old facts were often discussed at length, and changed in one short sentence.

// changes are ways to say that something is not as it was; sure ones say so in no other sense.
var (
	sureChanges = language.NewPhrases(`moved|moving to|switched|switch to|switching to|migrated|replaced|replace|instead of|rather than|no longer|not anymore|any more|from now on|changed to|changed from|change it to|raised|lowered|increased|reduced|
		bumped|doubled|halved|renamed|dropped|retired|deprecated|upgraded|downgraded|went from|is gone|are gone|got rid of|stopped using|not use|nicht mehr|umgestellt|gewechselt|ersetzt|statt|anstelle|ab sofort|erhöht|gesenkt|umgezogen|
		désormais|remplacé|remplace|ne plus|au lieu de|passons à|passés à|augmenté|réduit|migré|ya no|en lugar de|en vez de|cambiamos|migramos|reemplazamos|subimos|bajamos|pasamos a|non più|invece di|sostituito|passati a|já não|não usamos mais|
		em vez de|mudamos|trocamos|niet meer|in plaats van|vervangen|больше не|вместо|перешли|заменили`,
		`改用 改为 改成 换成 迁移到 不再 升级到 変更し 移行 切り替え やめて やめた ではなく 바꿨 변경 대신 더 이상`)
	newStates = language.NewPhrases(`now|nowadays|currently|as of|jetzt|nun|inzwischen|maintenant|à présent|ahora|ora|adesso|agora|nu|теперь`, `现在 目前 如今 今は 現在 이제 지금은`)
)

// replacedBy come before what is not used any more.
var replacedBy = language.NewPhrases(`instead of|rather than|no longer|no longer use|away from|moved from|switched from|migrated from|from|replace|replaced|dropped|retired|got rid of|stopped using|statt|anstelle von|von|ersetzen|au lieu de|remplace|remplacé|plus|
	en lugar de|en vez de|reemplazamos|ya no usamos|invece di|in plaats van|вместо`, `不再使用 不再 放弃`)

// tellsChange reports whether a text says that something changed, and whether it can be meant in no other sense.
func tellsChange(text string) (changed, surely bool) {
	surely = sureChanges.In(text)
	return surely || newStates.In(text), surely
}

const (
	mostReplaced = 12          // of the best that may be outdated
	mostLater    = 40          // of the best that may say so
	sameTalk     = time.Minute // what is said within it in one conversation is one thought
	mostNaming   = 3           // of the best whose names are looked for in what changed
	mostNames    = 8
)

// A statement is a passage as it is compared.
type statement struct {
	*candidate
	terms  termSet
	sure   bool
	gone   termSet // what it says is not used any more
	about  termSet // terms of the sentences in which it has one of the question, else of the first
	values termSet // numbers and names: what may have changed
}

func (q *query) stated(c *candidate) statement {
	s := statement{candidate: c, terms: termSet{}, values: termSet{}, sure: c.traits.has(surely)}
	for t := range strings.FieldsSeq(c.content) {
		if !language.Common(t) {
			s.terms[t] = true
		}
		if strings.ContainsAny(t, "0123456789") {
			s.values[t] = true
		}
	}
	return s
}

// read notes what an old statement is about, and what a newer one says is gone.
func (s *statement) read(q *query, text string) {
	if s.sure {
		s.gone = setOf(replacedBy.After(text, 3))
	}
	s.about = termSet{}
	var first []string
	for i, sentence := range language.SplitSentences(text) {
		terms := language.Terms(sentence)
		if slices.ContainsFunc(terms, func(t string) bool { return q.find([]byte(t)) >= 0 }) {
			maps.Copy(s.about, setOf(terms))
		}
		if i == 0 {
			first = terms
		}
	}
	if len(s.about) == 0 {
		s.about = setOf(first)
	}
	maps.DeleteFunc(s.about, func(t string, _ bool) bool { return language.Common(t) })
}

// replaces reports whether what a says is not so since what s says; common are terms that many of the passages have.
func (q *query) replaces(s, a statement, common termSet) bool {
	if !s.traits.has(newer) || s.traits.has(asks) || s.whose != a.whose || !s.later(a) ||
		s.thread != 0 && s.thread == a.thread && (!s.sure || s.created.Sub(a.created) < sameTalk) {
		return false
	}
	telling, asked, gone := 0, false, false
	for t := range s.terms {
		wanted := q.find([]byte(t)) >= 0
		if a.about[t] && !s.values[t] && (!common[t] || wanted && s.gone[t]) {
			telling++
			gone = gone || s.gone[t]
			asked = asked || wanted
		}
	}
	values := len(s.values) > 0 && len(a.values) > 0
	switch {
	case s.sure && (telling >= 2 || telling >= 1 && (values || asked || gone)):
		return true
	case values && !within(s.values, a.values): // "it is 15000 now": what it is, its neighbours say
		return telling >= 2 && asked ||
			s.window >= .6*a.window && bits.OnesCount32(q.nearTerms(s.near)&q.nearTerms(a.near)) >= 3
	}
	return false
}

// later reports whether s was said after a.
func (s statement) later(a statement) bool {
	if s.created.Equal(a.created) {
		return s.id > a.id
	}
	return s.created.After(a.created)
}

func within(a, b termSet) bool {
	for t := range a {
		if !b[t] {
			return false
		}
	}
	return true
}

// nearTerms are the terms of the question that some passages have, a bit each.
func (q *query) nearTerms(near []*candidate) (terms uint32) {
	for _, c := range near {
		terms |= c.terms
	}
	return terms
}

// supersede puts newer passages before those that they replace.
func (s *Store) supersede(ctx context.Context, q *query, ranked []*candidate, in search) ([]*candidate, error) {
	ranked, err := s.addChanges(ctx, q, ranked, in)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(ranked[:min(len(ranked), mostLater)])
	for _, c := range ranked[len(list):] {
		if c.traits.has(newer) && len(list) < mostLater+2*mostChanges {
			list = append(list, c)
		}
	}
	if !slices.ContainsFunc(list, func(c *candidate) bool { return c.traits.has(newer) }) {
		return ranked, nil
	}
	var ids []int64
	for i, c := range list {
		if i < mostReplaced || c.traits.has(surely) {
			ids = append(ids, c.id)
		}
	}
	texts, err := s.pieces(ctx, ids)
	if err != nil {
		return nil, err
	}
	said := make([]statement, len(list))
	holding, different := map[string]int{}, map[string]bool{}
	for i, c := range list {
		said[i] = q.stated(c)
		if m, ok := texts[c.id]; ok {
			said[i].read(q, m.Content)
		}
		if !different[c.content] {
			different[c.content] = true
			for t := range said[i].terms {
				holding[t]++
			}
		}
	}
	common := termSet{}
	for t, n := range holding {
		common[t] = n > max(4, len(different)/8)
	}
	changed := false
	for i := range said[:min(len(said), mostReplaced)] {
		old := &said[i]
		if old.traits.has(asks) {
			continue
		}
		var by *statement
		for j := range said {
			if j != i && q.replaces(said[j], *old, common) && (by == nil || said[j].later(*by)) {
				by = &said[j]
			}
		}
		if by == nil {
			continue
		}
		by.score = max(by.score, old.score+.01)
		list[i].outdated = true
		changed = true
	}
	if changed {
		slices.SortStableFunc(ranked, byScore)
	}
	return ranked, nil
}

// addChanges adds passages that say that something changed about what the best of the ranked name, in whatever words
// the question has.
func (s *Store) addChanges(ctx context.Context, q *query, ranked []*candidate, in search) ([]*candidate, error) {
	var ids []int64
	for _, c := range ranked[:min(len(ranked), mostNaming)] {
		ids = append(ids, c.id)
	}
	texts, err := s.pieces(ctx, ids)
	if err != nil {
		return nil, err
	}
	var named []language.Term
	for _, id := range ids {
		for _, t := range language.Ask(texts[id].Content).Terms {
			if (t.Name || t.Identifier) && !t.Common && len(named) < mostNames {
				named = append(named, language.Term{Forms: t.Forms[:1]})
			}
		}
	}
	df, err := s.frequencies(ctx, named)
	if err != nil {
		return nil, err
	}
	var names []string
	postings := 0
	for _, t := range named {
		if n := df[t.Forms[0]]; n > 1 && postings+n <= fewPostings { // one stands nowhere else
			postings += n
			names = append(names, quote(t.Forms[0]))
		}
	}
	if len(names) == 0 {
		return ranked, nil
	}
	found, err := s.matching(ctx, in, "scope : "+quote(changeTerm)+" AND {content} : ("+strings.Join(names,
		" OR ")+")", mostChanges)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found,
		func(id int64) bool { return slices.ContainsFunc(ranked, func(c *candidate) bool { return c.id == id }) })
	if len(found) == 0 {
		return ranked, nil
	}
	more, err := s.rows(ctx, q, found, 0, in)
	if err != nil {
		return nil, err
	}
	for _, c := range more {
		c.near = []*candidate{c}
	}
	return append(ranked, more...), nil
}

// Replaced gives what a memory or passage has replaced: older ones about the same that are not so since.
func (s *Store) Replaced(ctx context.Context, m Memory) ([]Memory, error) {
	if changed, _ := tellsChange(m.Content); !changed {
		return nil, nil
	}
	q, ranked, err := s.find(ctx, search{text: m.Content, project: m.Project, most: mostLater})
	if err != nil {
		return nil, err
	}
	ranked = ranked[:min(len(ranked), mostLater)]
	found, err := s.read(ctx, &q, ranked)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(found, func(f Memory) bool { return f.ID == m.ID })
	if at < 0 || len(found) != len(ranked) {
		return nil, nil
	}
	this := q.stated(ranked[at])
	this.read(&q, m.Content)
	var replaced []Memory
	for i, f := range found {
		old := q.stated(ranked[i])
		old.read(&q, f.Content)
		if i != at && q.replaces(this, old, termSet{}) {
			replaced = append(replaced, f)
		}
	}
	return replaced[:min(len(replaced), 5)], nil
}
