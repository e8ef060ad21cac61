package embedded

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// What a prompt is told: a few items that can be understood by themselves. A passage is joined with its neighbours as
// far as there is room: the answer with its question, a sentence with the one that says what "it" is.

const (
	maxRecalled  = 5     // items, besides the user's words; more were measured not to help
	maxWords     = 3     // short passages of the user that are told before the others
	moreWords    = 2     // and as many more of these where there is room
	maxTold      = 1_610 // bytes of all items: with what stands around them 2,000
	maxOpening   = 8     // of the best passages that begin an item or are joined to one
	joinWithin   = 2     // how far, in passages, one may be from an item to be joined to it
	maxExcerpt   = 600   // bytes that are told of a longer memory,
	workExcerpt  = 350   // of what was said where work was done, with what stands beside it,
	wordsExcerpt = 300   // and of the user's words there;
	minOfWords   = .25   // share of the prompt that they hold to be told
	minExcerpt   = 160   // the least of it that is told where there is little room
)

// An excerpt is an item that is being made: passages of one conversation that follow each other, or a text.
type excerpt struct {
	best        *rank.Passage
	first, last int    // indices in the conversation, inclusive
	text        string // what is told of a passage where work was done
}

// tell makes items of the best passages: of those where work was done first the user's own words, then excerpts of
// anybody's; of talk what was said together.
func (s *Store) tell(ctx context.Context, q *rank.Query, ranked []*rank.Passage, in Query, left int) (
	[]memory.Item, error) {
	if len(ranked) == 0 {
		return nil, nil
	}
	words := q.Words(ranked)
	words = words[:min(len(words), 4*maxWords)]
	ranked = slices.DeleteFunc(slices.Clone(ranked),
		func(c *rank.Passage) bool { return c.Traits.Has(passage.Narrates) })
	t := selection{q: q, threads: map[int64][]*rank.Passage{}, at: map[int64]int{}, left: left, seen: in.seen,
		project: in.Project, said: map[string]bool{}, cut: map[int64][]sentence{}}
	t.place(ranked)
	ids, best := idsOf(words), ranked[:min(len(ranked), 2*maxOpening)]
	for _, c := range best {
		thread, at := t.thread(c), t.at[c.ID]
		ids = append(ids, idsOf(thread[max(at-joinWithin, 0):min(at+joinWithin+1, len(thread))])...)
	}
	slices.Sort(ids)
	var err error
	if t.texts, err = s.pieces(ctx, slices.Compact(ids)); err != nil {
		return nil, err
	}
	for _, text := range in.seen {
		if len(text) > 40 { // no id
			t.markSaid(sentencesOf(text))
		}
	}
	looked := slices.Concat(words, best)
	t.outdate(looked)
	t.quoteWords(words, maxWords)
	t.open(ranked)
	t.quoteWords(words, t.most+moreWords)
	t.addAnswers()
	if t.failed, err = s.failures(ctx, t.items); err != nil && !timedOut(err) {
		return nil, err
	}
	t.takenBack = t.takeBack(looked)
	return t.finish(left), nil
}

// stands reports whether the session is told a passage anyway, or was.
func (t *selection) stands(c *rank.Passage) bool {
	m, read := t.texts[c.ID]
	return read && (slices.Contains(t.seen, m.ID) || slices.Contains(t.seen, m.Content))
}

// beside reports whether a passage has no word of the prompt, and was found for one of its turn that stands in the
// block anyway.
func (t *selection) beside(c *rank.Passage) bool {
	return slices.ContainsFunc(t.thread(c), func(other *rank.Passage) bool {
		return other.Turn == c.Turn && t.stands(other)
	}) && t.q.Held(language.Terms(t.texts[c.ID].Content)) == 0
}

// quoteWords makes items of the user's words that bear on the prompt, until there are most items.
func (t *selection) quoteWords(words []*rank.Passage, most int) {
	for _, c := range words {
		if len(t.items) < most && !t.stands(c) && t.bears(c) {
			t.quote(c, wordsExcerpt)
		}
	}
}

// bears reports whether the user's words say something about the prompt: they hold a quarter of it, or have a word of
// it and say how things are to be done.
func (t *selection) bears(c *rank.Passage) bool {
	held := t.q.Held(language.Terms(t.texts[c.ID].Content))
	return held > minOfWords || held > 0 && c.Traits.Has(passage.Directs)
}

// failures returns what the user said next, where that says that what an agent's passage told did not help.
func (s *Store) failures(ctx context.Context, items []excerpt) (map[int64]string, error) {
	var ids []int64
	for _, e := range items {
		if e.best.Turn != 0 && !e.best.ByUser {
			ids = append(ids, e.best.ID)
		}
	}
	next, err := sqlite.Pairs[int64, string](ctx, s.db, `SELECT p.id, coalesce((SELECT content FROM passages n
		WHERE n.thread <> 0 AND n.thread = p.thread AND n.position > p.position AND n.turn > p.turn
		ORDER BY n.position LIMIT 1), '')
		FROM json_each(?) j JOIN passages p ON p.id = j.value`, sqlite.List(ids))
	failed := map[int64]string{}
	for id, text := range next {
		if said := stated.Failed(text); said != "" {
			failed[id] = said
		}
	}
	return failed, err
}

// open makes items of the best passages that were read, and that nothing else tells.
func (t *selection) open(ranked []*rank.Passage) {
	t.most = len(t.items) + maxRecalled
	opened := 0
	for _, c := range ranked {
		if opened == maxOpening {
			return
		}
		if _, read := t.texts[c.ID]; !read || t.stands(c) || t.beside(c) {
			continue
		}
		opened++
		if !c.Traits.Has(passage.Works) {
			t.take(c)
		} else if len(t.items) < t.most {
			t.quote(c, workExcerpt)
		}
	}
}

// addAnswers adds the answers to items of talk that end in a question.
func (t *selection) addAnswers() {
	for i := range t.items {
		e := &t.items[i]
		if e.text == "" && t.thread(e.best)[e.last].Traits.Has(passage.Asks) {
			t.extend(e, e.last+1)
		}
	}
}

// A selection is the items of a block while they are being chosen.
type selection struct {
	q       *rank.Query
	threads map[int64][]*rank.Passage // passages by conversation, in order
	at      map[int64]int             // a passage's place in its conversation
	texts   map[int64]Memory
	items   []excerpt
	most    int                  // how many items
	left    int                  // bytes that are free
	project string               // of the session
	seen    []string             // ids and texts that it is told anyway, or was
	said    map[string]bool      // sentences in the items, by key
	cut     map[int64][]sentence // of passages

	failed    map[int64]string    // passages of agents, and how the user said that this did not help
	takenBack map[int64]time.Time // passages with what the user decided and took back, and when
}

// place puts passages into their conversations.
func (t *selection) place(ranked []*rank.Passage) {
	for _, c := range ranked {
		t.threads[threadKey(c)] = append(t.threads[threadKey(c)], c)
	}
	for _, list := range t.threads {
		slices.SortFunc(list, rank.ByPlace)
		for i, c := range list {
			t.at[c.ID] = i
		}
	}
}

// thread returns the passages of a passage's conversation.
func (t *selection) thread(c *rank.Passage) []*rank.Passage { return t.threads[threadKey(c)] }

// threadKey is the conversation of a passage, or a number of its own for one that stands alone.
func threadKey(c *rank.Passage) int64 {
	if c.Thread == 0 {
		return -c.ID - 1<<62
	}
	return c.Thread
}

// takeBack finds the user's decisions that are told and that a later one of the list takes back.
func (t *selection) takeBack(list []*rank.Passage) map[int64]time.Time {
	list = slices.DeleteFunc(list, func(c *rank.Passage) bool {
		return !c.ByUser || !c.Traits.Has(passage.Directs|passage.Changes)
	})
	slices.SortStableFunc(list, func(a, b *rank.Passage) int { return a.Created.Compare(b.Created) })
	var decided []string
	by := map[string]*rank.Passage{}
	for _, c := range list {
		text := t.texts[c.ID].Content
		if !t.tells(c) && (len(decided) == 0 || !stated.TakesBack(text)) { // to read a decision is costly
			continue
		}
		for _, text := range stated.Decided("", text) {
			if by[text] == nil {
				decided, by[text] = append(decided, text), c
			}
		}
	}
	taken := map[int64]time.Time{}
	for text, later := range stated.Reverted(decided) {
		taken[by[text].ID] = by[later].Created
	}
	return taken
}

// sentences returns those of a passage.
func (t *selection) sentences(c *rank.Passage) []sentence {
	list, ok := t.cut[c.ID]
	if !ok {
		m := t.texts[c.ID]
		if list = sentencesOf(m.Content); !m.Who.ByPerson() {
			list = slices.DeleteFunc(list, sentence.narrates)
		}
		t.cut[c.ID] = list
	}
	return list
}

// take begins an item with a passage, or joins the passage to an item that it stands beside.
func (t *selection) take(c *rank.Passage) {
	at := t.at[c.ID]
	for i := range t.items {
		e := &t.items[i]
		if c.Thread == 0 || e.text != "" || e.best.Thread != c.Thread ||
			at < e.first-joinWithin || at > e.last+joinWithin {
			continue
		}
		for at < e.first && t.extend(e, e.first-1) {
		}
		for at > e.last && t.extend(e, e.last+1) {
		}
		return
	}
	if len(t.items) == t.most {
		return
	}
	p := t.part(c)
	cost := t.item(c, p.text(maxExcerpt)).Size()
	if t.repeats(p) || cost > t.left {
		return
	}
	t.left -= cost
	t.markSaid(p.sentences)
	t.items = append(t.items, excerpt{c, at, at, ""})
}

// item is a text of a passage as an item, marked as out of date where it is.
func (t *selection) item(c *rank.Passage, text string) memory.Item {
	it := t.texts[c.ID].item()
	it.Text, it.Score = text, shownScore(c.Score)
	if c.By != nil {
		it.About = it.Date.UTC().Format(day) + ", earlier than " + c.By.Created.UTC().Format(day)
		if c.By.Created.UTC().Format(day) == it.Date.UTC().Format(day) {
			it.About = it.Date.UTC().Format(day) + ", earlier that day"
		}
	}
	return ownProject([]memory.Item{it}, t.project)[0]
}

// quote makes an item of the sentences of a passage around the best one.
func (t *selection) quote(c *rank.Passage, most int) {
	list := t.sentences(c)
	most = min(most, t.left-t.item(c, "").Size())
	whole := 0
	for _, s := range list {
		whole += len(s.text) + 1
	}
	if len(list) == 0 || most < minExcerpt && most < whole {
		return
	}
	p := partAround(list, t.best(list), most-len("… ")-len(" …"))
	if t.repeats(p) {
		return
	}
	text := p.text(most - len("… ") - len(" …"))
	cost := t.item(c, text).Size() // code is indented, which counts too
	if cost > t.left {
		return
	}
	t.left -= cost
	t.markSaid(p.sentences)
	t.items = append(t.items, excerpt{best: c, text: text})
}

// extend adds the passage at a place beside the item to it, if there is room and the passage says something new.
func (t *selection) extend(e *excerpt, at int) bool {
	thread := t.thread(e.best)
	if at < 0 || at >= len(thread) {
		return false
	}
	p := t.part(thread[at])
	cost := len(" / answered: ") + len(p.text(maxExcerpt))
	if cost > t.left || t.repeats(p) || t.contains(thread[at].ID) {
		return false
	}
	t.left -= cost
	t.markSaid(p.sentences)
	e.first, e.last = min(e.first, at), max(e.last, at)
	return true
}

func (t *selection) contains(id int64) bool {
	return slices.ContainsFunc(t.items, func(e excerpt) bool {
		return e.text == "" && slices.ContainsFunc(t.thread(e.best)[e.first:e.last+1],
			func(c *rank.Passage) bool { return c.ID == id })
	})
}

// part is what a passage says, cut to the part that concerns the question where it is long.
func (t *selection) part(c *rank.Passage) part {
	list := t.sentences(c)
	size := 0
	for _, s := range list {
		size += len(s.text) + 1
	}
	if len(list) == 0 || size <= maxExcerpt+1 {
		return part{sentences: list}
	}
	return partAround(list, t.best(list), maxExcerpt)
}

// best returns the index of the sentence that holds most of the question.
func (t *selection) best(sentences []sentence) int {
	best, most := 0, -1.0
	for i, s := range sentences {
		if held := t.q.Held(strings.Fields(s.key)); held > most {
			best, most = i, held
		}
	}
	return best
}

// repeats reports whether all that a part says was said already, in the same words.
func (t *selection) repeats(p part) bool {
	return !slices.ContainsFunc(p.sentences, func(s sentence) bool { return !t.said[s.key] })
}

func (t *selection) markSaid(list []sentence) {
	for _, s := range list {
		t.said[s.key] = true
	}
}

// finish writes the items, most bytes in all, a question without its answer not at all.
func (t *selection) finish(most int) []memory.Item {
	var items []memory.Item
	said := map[string]bool{}
	for _, e := range t.items {
		text, answered := e.text, true
		if text == "" {
			text, answered = t.write(e, said)
		}
		if text == "" || !answered {
			continue
		}
		it := t.item(e.best, text)
		if said := t.failed[e.best.ID]; said != "" {
			it.Text += " / then the user said: “" + said + "”"
		}
		if e.best.By != nil && !t.tells(e.best.By) {
			it.About = it.Date.UTC().Format(day) + ", changed on " + e.best.By.Created.UTC().Format(day)
		}
		if at, ok := t.takenBack[e.best.ID]; ok {
			it.About = it.Date.UTC().Format(day) + ", taken back on " + at.UTC().Format(day)
		}
		if most -= it.Size(); most < 0 {
			break
		}
		items = append(items, it)
	}
	return items
}

// tells reports whether an item begins with a passage.
func (t *selection) tells(c *rank.Passage) bool {
	return slices.ContainsFunc(t.items, func(e excerpt) bool { return e.best.ID == c.ID })
}

// write joins an item's passages, as "asked: … / answered: …" where both sides of a conversation speak. A sentence that
// was said before is left out.
func (t *selection) write(e excerpt, said map[string]bool) (text string, answered bool) {
	speaker := ""
	thread := t.thread(e.best)[e.first : e.last+1]
	both := slices.ContainsFunc(thread,
		func(c *rank.Passage) bool { return t.texts[c.ID].Origin != t.texts[thread[0].ID].Origin })
	for _, c := range thread {
		p := t.part(c)
		p.sentences = slices.DeleteFunc(slices.Clone(p.sentences), func(s sentence) bool {
			again := s.key != "" && said[s.key]
			said[s.key] = true
			return again
		})
		if len(p.sentences) == 0 {
			continue
		}
		answered = answered || c.Thread <= 0 || t.texts[c.ID].Origin != fromUser || !c.Traits.Has(passage.Asks)
		part := p.text(maxExcerpt)
		if both && t.texts[c.ID].Origin != speaker {
			role := "answered:"
			if t.texts[c.ID].Origin == fromUser {
				role = "asked:"
			}
			part = beside(role, " ", part)
		}
		speaker = t.texts[c.ID].Origin
		text = beside(text, " / ", part)
	}
	return text, answered
}

// beside joins two texts; code begins and ends on lines of its own.
func beside(a, between, b string) string {
	last := a[strings.LastIndexByte(a, '\n')+1:]
	switch {
	case a == "":
		return b
	case isFence(last) || isFence(b):
		return a + "\n" + b
	}
	return a + between + b
}

// isFence reports whether a line begins, or ends, code.
func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}
