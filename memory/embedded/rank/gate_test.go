package rank

import (
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// A question of which one word tells and another is common is worth an answer where the rest are words that nobody ever
// used; names that nobody ever said are not.
func TestUnusedWords(t *testing.T) {
	for question, want := range map[string]bool{
		"Which encoding do the forklifts send?": true,
		"Which Erdmann do the forklifts send?":  false,
	} {
		q := ask(question, 0, 20, 30)
		p := &Passage{ID: 1, Created: monday, Length: 4, Found: true}
		q.Read(p, "forklift send cbor mqtt", nil)
		if got := q.WorthTelling(q.Rank([]*Passage{p})); got != want {
			t.Errorf("%s is worth telling: %v, want %v", question, got, want)
		}
	}
}

// What is found for a question is worth telling only where it holds enough of it: where work was done, by the user's
// words too.
func TestWorthTelling(t *testing.T) {
	for _, c := range []struct {
		question, content string
		docs              []int
		works, byUser     bool
		want              bool
	}{
		{"kiln glaze", "kiln", []int{5, 5}, false, false, true},
		{"kiln glaze boat shed attic house", "kiln", []int{5, 5, 5, 5, 5, 5}, false, false, false},
		{"kiln glaze boat shed attic house", "kiln", []int{5, 5, 5, 5, 5, 5}, true, true, false},
		{"kiln glaze boat shed", "kiln glaze", []int{5, 5, 5, 5}, true, false, false},
		{"kiln glaze boat shed", "kiln glaze", []int{5, 5, 5, 5}, true, true, true},
		{"fix the test", "fix test", []int{5, 5}, true, true, false},
		{"last week", "boat", nil, false, false, true},
		{"", "boat", nil, false, false, false},
	} {
		q := ask(c.question, c.docs...)
		p := &Passage{ID: 1, Created: monday, Length: 4, Found: true, ByUser: c.byUser}
		if c.works {
			p.Traits = passage.Works
		}
		q.Read(p, c.content, nil)
		if got := q.WorthTelling(q.Rank([]*Passage{p})); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
		if q.WorthTelling(nil) {
			t.Errorf("%s: nothing is worth telling", c.question)
		}
	}
	if atWork([]*Passage{{Traits: passage.Works}, {}}) || !atWork([]*Passage{{Traits: passage.Works}}) {
		t.Error("work is more than half of the best")
	}
}
