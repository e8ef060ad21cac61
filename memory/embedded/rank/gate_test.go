package rank

import "testing"

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
