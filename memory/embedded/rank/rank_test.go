package rank

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

var monday = time.Date(2026, 10, 5, 9, 0, 0, 0, time.UTC)

// ask weighs a question whose terms so many passages have, of a thousand.
func ask(question string, docs ...int) Query {
	q := Ask(question, monday)
	q.Weigh(docs, 1000, 10_000)
	return q
}

// Of common words no more entries are read than are worth it, of the rarest all.
func TestRarest(t *testing.T) {
	q := ask("kiln temperature glaze", 700, 40, 5)
	for most, want := range map[int]string{
		1000: "glaze temperature kiln", 700: "glaze temperature", 40: "glaze", 1: "glaze",
	} {
		got := ""
		for _, a := range q.Rarest(most) {
			got += " " + a.Word
		}
		if got != " "+want {
			t.Errorf("of %d entries: looked for%s, want %s", most, got, want)
		}
	}
}

// What a passage's neighbours say counts for it, and what stands in another conversation does not.
func TestNeighbours(t *testing.T) {
	q := ask("kiln glaze", 10, 5)
	var all []*Passage
	for i, p := range []struct {
		thread  int64
		content string
	}{{1, "kiln"}, {1, "cone ten"}, {2, "cone six"}, {2, "boat"}} {
		at := &Passage{ID: int64(i + 1), Thread: p.thread, Position: float64(i), Created: monday, Length: 2,
			Found: true}
		q.Read(at, p.content, nil)
		all = append(all, at)
	}
	all[1], all[2] = all[2], all[1] // in whatever order they come
	ranked := q.Rank(all)
	if len(ranked) != 4 || ranked[0].ID != 1 || ranked[1].ID != 2 {
		t.Errorf("%d passages, first %+v", len(ranked), ranked[0])
	}
	if words := q.Matched(ranked[1]); len(words) != 1 || words[0] != "kiln" {
		t.Errorf("it matched %q", words)
	}
}

// Of what was imported the words tell who speaks, and in answer to what: that counts there alone.
func TestImported(t *testing.T) {
	const did = "Did the glaze of Anna leave a kiln?"
	for _, c := range []struct {
		question, content string
		traits, before    passage.Traits
		more              bool
	}{
		{did, "anna kiln", 0, 0, true},
		{did, "kiln anna", 0, 0, false},
		{did, "kiln glaze", 0, 0, false},
		{did, "boat", 0, 0, false},
		{did, "kiln", 0, passage.Asks, true},
		{did, "kiln", 0, 0, false},
	} {
		q := ask(c.question, 10, 5, 10, 5)
		score := func(turn int64) float64 {
			before := &Passage{ID: 1, Thread: 1, Turn: turn, Created: monday, Length: 2, Traits: c.before}
			p := &Passage{ID: 2, Thread: 1, Position: 1, Turn: turn, Created: monday, Length: 2, Found: true, Traits: c.traits}
			q.Read(before, "boat", nil)
			q.Read(p, c.content, nil)
			return q.Rank([]*Passage{before, p})[0].Score
		}
		if imported, said := score(0), score(1); imported > said != c.more {
			t.Errorf("%s %+v: %.2f imported, %.2f in a turn", c.question, c, imported, said)
		}
	}
}

// Words that stand side by side count more than apart, and a question of common words names nothing.
func TestSideBySide(t *testing.T) {
	q := ask("kiln glaze", 10, 5)
	if q.Telling == 0 {
		t.Error("it names nothing")
	}
	if common := ask("and what about that?"); common.Telling != 0 {
		t.Error("common words name something")
	}
	score := func(content string) float64 {
		p := &Passage{ID: 1, Thread: 1, Created: monday, Length: 3, Found: true}
		q.Read(p, content, nil)
		return q.Rank([]*Passage{p})[0].Score
	}
	if beside, apart := score("kiln glaze boat"), score("kiln boat glaze"); beside <= apart {
		t.Errorf("%.2f side by side, %.2f apart", beside, apart)
	}
}

// A later change about the same thing goes before what it replaces, one behind the best and of many changes the newest.
func TestSupersede(t *testing.T) {
	const question, before = "where does the glaze kiln stand?", "the glaze kiln stands in the cellar"
	for name, c := range map[string]struct {
		change string
		edit   func(old, by *Passage)
		want   bool
	}{
		"two terms":              {"we moved the glaze kiln to the attic", nil, true},
		"one term":               {"we moved the kiln to the attic", nil, false},
		"one, with numbers":      {"we switched the kiln to cone 6", func(old, _ *Passage) { old.content += " cone10" }, true},
		"one, numbers in one":    {"we switched the kiln to cone 6", nil, false},
		"one, which is gone":     {"use the attic instead of the cellar", nil, true},
		"a question":             {"did we move the glaze kiln?", func(_, by *Passage) { by.Traits |= passage.Asks }, false},
		"no change":              {"the glaze kiln is old", func(_, by *Passage) { by.Traits = 0 }, false},
		"said before":            {"we moved the glaze kiln", func(_, by *Passage) { by.Created = monday.Add(-1) }, false},
		"stored before":          {"we moved the glaze kiln", func(old, by *Passage) { by.Created, old.ID = monday, 5 }, false},
		"stored later":           {"we moved the glaze kiln", func(_, by *Passage) { by.Created = monday }, true},
		"of another project":     {"we moved the glaze kiln", func(_, by *Passage) { by.Whose = otherProject }, false},
		"in the same breath":     {"we moved the glaze kiln", func(_, by *Passage) { by.Thread, by.Created = 1, monday.Add(59e9) }, false},
		"in the same session":    {"we moved the glaze kiln", func(_, by *Passage) { by.Thread, by.Created = 1, monday.Add(60e9) }, true},
		"of no session":          {"we moved the glaze kiln", func(old, by *Passage) { old.Thread, by.Thread, by.Created = 0, 0, monday.Add(9) }, true},
		"work, by the agent":     {"we moved the glaze kiln", func(old, _ *Passage) { old.Traits = passage.Works }, false},
		"work, by the user":      {"we moved the glaze kiln", func(old, by *Passage) { old.Traits, by.ByUser = passage.Works, true }, true},
		"one of its common ones": {"we changed the error of the kiln", func(old, _ *Passage) { old.content += " error" }, false},
	} {
		q := ask(question, 10, 5, 5)
		old := &Passage{ID: 1, Thread: 1, Created: monday, Score: 3}
		by := &Passage{ID: 2, Thread: 2, Created: monday.AddDate(0, 0, 1), Traits: passage.Changes, Score: 1}
		old.content, by.content = strings.Join(language.Terms(before), " "), strings.Join(language.Terms(c.change), " ")
		if c.edit != nil {
			c.edit(old, by)
		}
		ranked := []*Passage{old, by}
		q.Supersede(ranked, []*Passage{by}, map[int64]string{2: c.change, 5: c.change})
		if got := old.By == by; got != c.want || got != (ranked[0] == by) {
			t.Errorf("%s: replaced %v, first %d, want %v", name, got, ranked[0].ID, c.want)
		}
		if got := len(q.Replaced(by, c.change, ranked)) == 1; got != c.want {
			t.Errorf("%s: Replaced says %v", name, got)
		}
	}
}

// The best forty changes are compared with the best twelve passages. A term that more than an eighth of the best forty
// have, equal ones counted once, tells nothing, unless the question asks for it and the change says that it is gone.
func TestChanges(t *testing.T) {
	q := ask("where does the glaze kiln stand?", 10, 5, 5)
	for _, c := range []struct {
		having, different int
		change            string
		want              int
	}{{4, 50, "", 3}, {5, 50, "", 0}, {30, 3, "", 12}, {30, 50, "", 0}, {30, 50, "the shed instead of the glaze kiln", 12}} {
		var ranked []*Passage
		for i := range 80 {
			p := &Passage{ID: int64(i), Created: monday.Add(time.Duration(i) * time.Hour), content: "boat"}
			if i >= 39 {
				p.Traits = passage.Changes
			}
			if i < c.having-1 || i == 39 {
				p.content = fmt.Sprint("glaze kiln glaze ", i%c.different)
			}
			ranked = append(ranked, p)
		}
		changes := Changes(ranked)
		if len(changes) != 40 || changes[0].ID != 39 {
			t.Fatalf("%d changes, the first %d", len(changes), changes[0].ID)
		}
		q.Supersede(ranked, changes, map[int64]string{39: c.change})
		replaced := 0
		for _, p := range ranked {
			if p.By != nil {
				replaced++
			}
		}
		if replaced != c.want {
			t.Errorf("%d have it: %d replaced, want %d", c.having, replaced, c.want)
		}
	}
}

// Whatever is asked and was said, each passage is ranked once at most, and none replaces itself.
func FuzzRank(f *testing.F) {
	f.Add("for _, f := range files", "case _ =>", "we moved from A to B", "it was A")
	f.Add("When did Anna move pool.go?", "\xff pool_go", "用户表在哪个节点", "")
	f.Add("kiln glaze", "the kiln is now at cone six instead of cone ten", "the kiln is at cone ten", "_")
	texts := realtext.Seeds(f)
	for i, text := range texts {
		f.Add(text, text, texts[(i+1)%len(texts)], texts[(i+7)%len(texts)])
	}
	f.Fuzz(func(t *testing.T, question, one, two, three string) {
		q := Ask(question, monday)
		docs := make([]int, len(q.Terms))
		for i := range docs {
			docs[i] = (i * 7) % 50
		}
		q.Weigh(docs, 1000, 10_000)
		var all []*Passage
		said := map[int64]string{}
		for i, text := range []string{one, two, three} {
			terms := language.Terms(text)
			p := &Passage{ID: int64(i + 1), Thread: int64(i / 2), Position: float64(i), Found: i != 2,
				Created: monday.AddDate(0, 0, i), Traits: passage.TraitsOf(text, false), Length: float64(len(terms))}
			q.Read(p, strings.Join(terms, " "), []byte(question))
			all, said[p.ID] = append(all, p), text
		}
		ranked := q.Rank(all)
		q.Supersede(ranked, Changes(ranked), said)
		q.WorthTelling(ranked)
		q.Rarest(1000)
		seen := map[int64]bool{}
		for _, p := range ranked {
			if seen[p.ID] || math.IsNaN(p.Score) {
				t.Errorf("passage %d: ranked before is %v, its score %v", p.ID, seen[p.ID], p.Score)
			}
			seen[p.ID] = true
			q.Matched(p)
			for _, old := range q.Replaced(p, said[p.ID], ranked) {
				if old == p {
					t.Errorf("%.60q replaces itself", said[p.ID])
				}
			}
		}
	})
}

// Where work was done, words that nobody ever used count against telling, and common ones hold half.
func TestAtWork(t *testing.T) {
	for _, c := range []struct {
		prompt string
		docs   []int
		tells  bool
	}{
		{"mend the kiln glaze", []int{10, 10, 5}, true},
		{"mend the kiln glaze of the trebuchet catapult", []int{10, 10, 5, 0, 0}, false},
		{"fix the kiln error of the file", []int{10, 10, 5, 5}, false},
	} {
		q := ask(c.prompt, c.docs...)
		p := &Passage{ID: 1, Thread: 1, Turn: 1, Created: monday, Length: 2, Found: true, ByUser: true,
			Traits: passage.Works}
		q.Read(p, "kiln glaze", nil)
		if got := q.WorthTelling(q.Rank([]*Passage{p})); got != c.tells {
			t.Errorf("%s: told %v", c.prompt, got)
		}
	}
}

// The user's short passages come first that bear on the prompt; what is long, or was said by the agent or in talk, is
// not among them.
func TestWords(t *testing.T) {
	q := ask("kiln glaze", 10, 5)
	said := func(id, thread int64, content string, size int, byUser bool, traits passage.Traits) *Passage {
		p := &Passage{ID: id, Thread: thread, Turn: id, Position: float64(id), Created: monday, Length: 2, Found: true,
			ByUser: byUser, Size: size, Traits: traits}
		q.Read(p, content, nil)
		return p
	}
	found := q.Rank([]*Passage{said(1, 1, "kiln glaze", 20, false, passage.Works),
		said(2, 1, "glaze", 20, true, passage.Works), said(3, 1, "kiln glaze", 400, true, passage.Works),
		said(4, 2, "kiln", 20, true, 0), said(5, 1, "thin", 20, true, passage.Works|passage.Directs)})
	words := q.Words(found)
	if len(words) != 2 || words[0].ID != 2 || words[1].ID != 5 {
		t.Errorf("%d, first %+v", len(words), words[0])
	}
	for i, want := range []string{"1.62", "1.12"} {
		if got := fmt.Sprintf("%.2f", words[i].bearing); got != want {
			t.Errorf("passage %d bears %s on the prompt, want %s", words[i].ID, got, want)
		}
	}
	if both := Alternate(func(p *Passage) int64 { return p.ID }, words, found); len(both) != 5 || both[0].ID != 2 || both[1] != found[0] {
		t.Errorf("%d together", len(both))
	}
}
