package embedded

import (
	"context"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/stated"
)

// What a prompt is told: a few items that can be understood by themselves. A passage is joined with its neighbours as
// far as there is room: the answer with its question, a sentence with the one that says what "it" is.

const (
	mostRecalled = 5   // items, besides the user's words; more were measured not to help
	mostWords    = 3   // short passages of the user that are told before the others
	mostTold     = 392 // tokens, of all items: with what stands around them 2,000 bytes
	mostOpening  = 8   // of the best passages that begin an item or are joined to one
	joinWithin   = 2   // how far, in passages, one may be from an item to be joined to it
	mostExcerpt  = 600 // bytes that are told of a longer memory,
	workExcerpt  = 350 // of what was said where work was done, with what stands beside it,
	wordsExcerpt = 300 // and of the user's words there;
	leastExcerpt = 160 // the least of it that is told where there is little room
)

// An excerpt is an item that is being made: passages of one conversation that follow each other, or a text.
type excerpt struct {
	best        *rank.Passage
	first, last int    // indices in the conversation, inclusive
	text        string // what is told of passages where work was done
}

// tell makes items of the best passages: of those where work was done first the user's own words, then excerpts of
// anybody's; of talk what was said together.
func (s *Store) tell(ctx context.Context, q *rank.Query, words, ranked []*rank.Passage, in search,
	left int) ([]memory.Item, error) {
	words = words[:min(len(words), 4*mostWords)]
	ranked = slices.DeleteFunc(slices.Clone(ranked),
		func(c *rank.Passage) bool { return c.Traits.Has(passage.Narrates) })
	places := placesOf(ranked)
	ids := idsOf(words)
	for _, c := range ranked[:min(len(ranked), 2*mostOpening)] {
		thread := places.of(c)
		at := places.at[c.ID]
		for i := max(at-joinWithin, 0); i <= min(at+joinWithin, len(thread)-1); i++ {
			ids = append(ids, thread[i].ID)
		}
	}
	slices.Sort(ids)
	texts, err := s.pieces(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	t := selection{q: q, places: places, texts: texts, left: left, said: map[string]bool{},
		cut: map[string][]sentence{}}
	t.project = in.project
	for _, text := range in.seen {
		t.markSeen(text)
	}
	seen := func(c *rank.Passage) bool {
		m, ok := texts[c.ID]
		return !ok || slices.Contains(in.seen, m.ID) || slices.Contains(in.seen, m.Content)
	}
	for _, c := range words {
		if len(t.items) < mostWords && !seen(c) && t.bears(texts[c.ID].Content) {
			t.quote(c, clip(t.whole(c), wordsExcerpt))
		}
	}
	t.most = len(t.items) + mostRecalled
	opened := 0
	for _, c := range ranked {
		if opened == mostOpening {
			break
		}
		if seen(c) {
			continue
		}
		opened++
		if c.Traits.Has(passage.Works) {
			if len(t.items) < t.most {
				t.quote(c, t.around(c, min(workExcerpt, 4*(t.left-t.item(c, "").Tokens()))))
			}
		} else {
			t.take(c)
		}
	}
	for _, spend := range []func(*excerpt) (int, bool){t.answer, t.next, t.previous} {
		for i := range t.items {
			if t.items[i].text != "" {
				continue
			}
			if at, ok := spend(&t.items[i]); ok {
				t.extend(&t.items[i], at)
			}
		}
	}
	return t.finish(), nil
}

// bears reports whether the user's words say something about the prompt: they hold a quarter of it, or have a word of it
// and state something that lasts. Pasted lines and what only asks for work say nothing.
func (t *selection) bears(text string) bool {
	held := t.q.Held(language.Terms(text))
	return len(language.Sentences(text)) > 0 && (held > leastOfRule || held > 0 && len(stated.In(text)) > 0)
}

// places has passages by conversation, in order.
type places struct {
	threads map[int64][]*rank.Passage
	at      map[int64]int // a passage's place in its conversation
}

func placesOf(ranked []*rank.Passage) places {
	p := places{map[int64][]*rank.Passage{}, map[int64]int{}}
	for _, c := range ranked {
		key := c.Thread
		if key == 0 {
			key = -c.ID - 1<<62 // alone
		}
		p.threads[key] = append(p.threads[key], c)
	}
	for _, list := range p.threads {
		slices.SortFunc(list, rank.ByPlace)
		for i, c := range list {
			p.at[c.ID] = i
		}
	}
	return p
}

func (p places) of(c *rank.Passage) []*rank.Passage {
	if c.Thread == 0 {
		return p.threads[-c.ID-1<<62]
	}
	return p.threads[c.Thread]
}

// A selection is the items of a block while they are being chosen.
type selection struct {
	q       *rank.Query
	places  places
	texts   map[int64]Memory
	items   []excerpt
	most    int                   // how many items
	left    int                   // tokens that are free
	project string                // of the session
	said    map[string]bool       // sentences in the items, by key
	cut     map[string][]sentence // texts that were cut into sentences before
}

// A sentence of a text; equal keys say the same.
type sentence struct{ text, key string }

// sentences cuts a text into sentences.
func (t *selection) sentences(text string) []sentence {
	list, ok := t.cut[text]
	if !ok {
		for _, s := range language.SplitSentences(text) {
			list = append(list, sentence{s, strings.Join(language.Terms(s), " ")})
		}
		t.cut[text] = list
	}
	return list
}

// take begins an item with a passage, or joins the passage to an item that it stands beside.
func (t *selection) take(c *rank.Passage) {
	at := t.places.at[c.ID]
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
	text := t.text(c)
	cost := t.item(c, text).Tokens()
	if t.repeats(text) || cost > t.left {
		return
	}
	t.left -= cost
	t.markSaid(text)
	t.items = append(t.items, excerpt{c, at, at, ""})
}

// item is a text of a passage as an item.
func (t *selection) item(c *rank.Passage, text string) memory.Item {
	it := t.texts[c.ID].item()
	it.Text, it.Score = text, shownScore(c.Score)
	return ownProject([]memory.Item{it}, t.project)[0]
}

// quote makes an item of a text of a passage.
func (t *selection) quote(c *rank.Passage, text string) {
	cost := t.item(c, text).Tokens()
	if text == "" || cost > t.left || t.repeats(text) {
		return
	}
	t.left -= cost
	t.markSaid(text)
	t.items = append(t.items, excerpt{best: c, text: text})
}

// around gives what holds most of the question in a passage, with what stands beside it in the same part of its turn,
// most bytes in all; nothing where that is too little.
func (t *selection) around(c *rank.Passage, most int) string {
	own := t.sentences(t.whole(c))
	if len(own) == 0 || most < leastExcerpt && most < len(t.whole(c)) {
		return ""
	}
	best := t.best(own)
	thread, at := t.places.of(c), t.places.at[c.ID]
	all := slices.Clone(own)
	for i := at - 1; i >= max(at-joinWithin, 0) && thread[i].SamePart(c); i-- {
		before := t.sentences(t.whole(thread[i]))
		all = append(slices.Clone(before), all...)
		best += len(before)
	}
	for i := at + 1; i <= min(at+joinWithin, len(thread)-1) && thread[i].SamePart(c); i++ {
		all = append(all, t.sentences(t.whole(thread[i]))...)
	}
	return excerptOf(all, best, most-len("… ")-len(" …"))
}

// whole is what a passage says, on one line.
func (t *selection) whole(c *rank.Passage) string {
	return strings.Join(strings.Fields(t.texts[c.ID].Content), " ")
}

// extend adds the passage at a place beside the item to it, if there is room and the passage says something new.
func (t *selection) extend(e *excerpt, at int) bool {
	thread := t.places.of(e.best)
	if at < 0 || at >= len(thread) {
		return false
	}
	if thread[at].By != nil && e.best.By == nil { // it gets an item of its own, behind the one that replaced it
		return false
	}
	text := t.text(thread[at])
	cost := 3 + memory.Tokens(text)
	if text == "" || cost > t.left || t.repeats(text) || t.contains(thread[at].ID) {
		return false
	}
	t.left -= cost
	t.markSaid(text)
	e.first, e.last = min(e.first, at), max(e.last, at)
	return true
}

func (t *selection) contains(id int64) bool {
	return slices.ContainsFunc(t.items, func(e excerpt) bool {
		return e.text == "" && slices.ContainsFunc(t.places.of(e.best)[e.first:e.last+1],
			func(c *rank.Passage) bool { return c.ID == id })
	})
}

// answer gives the place after an item, and true where the item ends in a question.
func (t *selection) answer(e *excerpt) (int, bool) {
	thread := t.places.of(e.best)
	return e.last + 1, thread[e.last].Traits.Has(passage.Asks)
}

func (t *selection) next(e *excerpt) (int, bool)     { return e.last + 1, true }
func (t *selection) previous(e *excerpt) (int, bool) { return e.first - 1, true }

// text is what a passage says, cut to the part that concerns the question where it is long.
func (t *selection) text(c *rank.Passage) string {
	m, ok := t.texts[c.ID]
	if !ok {
		return ""
	}
	text := strings.Join(strings.Fields(m.Content), " ")
	if len(text) <= mostExcerpt {
		return text
	}
	sentences := t.sentences(text)
	return excerptOf(sentences, t.best(sentences), mostExcerpt)
}

// best gives the index of the sentence that holds most of the question.
func (t *selection) best(sentences []sentence) int {
	best, most := 0, -1.0
	for i, s := range sentences {
		if held := t.q.Held(strings.Fields(s.key)); held > most {
			best, most = i, held
		}
	}
	return best
}

// excerptOf gives the sentences around the best one, most bytes in all.
func excerptOf(sentences []sentence, best, most int) string {
	first, last, size := best, best, len(sentences[best].text)
	for grown := true; grown; {
		grown = false
		if last+1 < len(sentences) && size+1+len(sentences[last+1].text) <= most {
			last, size, grown = last+1, size+1+len(sentences[last+1].text), true
		}
		if first > 0 && size+1+len(sentences[first-1].text) <= most {
			first, size, grown = first-1, size+1+len(sentences[first-1].text), true
		}
	}
	var b strings.Builder
	for i := first; i <= last; i++ {
		if i > first {
			b.WriteByte(' ')
		}
		b.WriteString(sentences[i].text)
	}
	part := clip(b.String(), most)
	if first > 0 {
		part = "… " + part
	}
	if last+1 < len(sentences) {
		part += " …"
	}
	return part
}

// repeats reports whether all that a text says was said already.
func (t *selection) repeats(text string) bool {
	return !slices.ContainsFunc(t.sentences(text), func(s sentence) bool { return !t.said[s.key] })
}

func (t *selection) markSaid(text string) {
	for _, s := range t.sentences(text) {
		t.said[s.key] = true
	}
}

func (t *selection) markSeen(text string) {
	if len(text) > 40 { // no id
		t.markSaid(text)
	}
}

// finish writes the items: those that read like instructions last, a question without its answer not at all.
func (t *selection) finish() []memory.Item {
	var items, orders []memory.Item
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
		if by := e.best.By; by != nil && t.tells(by) {
			if is, was := by.Created.UTC().Format(day), it.Date.UTC().Format(day); is != was {
				it.About = was + ", earlier than " + is
			}
		}
		if memory.Instructs(text) {
			orders = append(orders, it)
		} else {
			items = append(items, it)
		}
	}
	return append(items, orders...)
}

const day = "2006-01-02"

// tells reports whether an item begins with a passage.
func (t *selection) tells(c *rank.Passage) bool {
	return slices.ContainsFunc(t.items, func(e excerpt) bool { return e.best.ID == c.ID })
}

// write joins an item's passages, as "asked: … / answered: …" where both sides of a conversation speak. A sentence that
// was said before is left out.
func (t *selection) write(e excerpt, said map[string]bool) (text string, answered bool) {
	var parts []string
	speaker := ""
	thread := t.places.of(e.best)[e.first : e.last+1]
	both := slices.ContainsFunc(thread,
		func(c *rank.Passage) bool { return t.texts[c.ID].Origin != t.texts[thread[0].ID].Origin })
	for _, c := range thread {
		var fresh []string
		for _, s := range t.sentences(t.text(c)) {
			if s.key == "" || !said[s.key] {
				said[s.key] = true
				fresh = append(fresh, s.text)
			}
		}
		if len(fresh) == 0 {
			continue
		}
		answered = answered || c.Thread <= 0 || t.texts[c.ID].Origin != fromUser || !c.Traits.Has(passage.Asks)
		part := strings.Join(fresh, " ")
		if both && t.texts[c.ID].Origin != speaker {
			part = map[bool]string{true: "asked: ", false: "answered: "}[t.texts[c.ID].Origin == fromUser] + part
		}
		speaker = t.texts[c.ID].Origin
		parts = append(parts, part)
	}
	return strings.Join(parts, " / "), answered
}

// clip shortens text to most bytes, between two words.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := chars.Boundary(text, most-len(" …"))
	if space := strings.LastIndexByte(text[:end], ' '); space > end/2 {
		end = space
	}
	return text[:end] + " …"
}
