package rank

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// What a feature adds to a score, each by itself.
func TestScore(t *testing.T) {
	for f, want := range map[features]float64{{window: .25}: 2.25, {before: 1}: 3, {session: 1}: 2.8, {answers: 1}: 2,
		{date: 1}: 5, {pairs: 1}: .5, {question: 1}: -.9, {place: 2}: -2, {speaker: 1}: .9,
		{replies: 1}: .35} {
		if got := f.score(); got != want {
			t.Errorf("%+v: %v, want %v", f, got, want)
		}
	}
	for want, p := range map[string]Passage{"1.000": {}, "1.050": {Rating: .5}, "0.970": {Whose: noProject},
		"0.720": {Whose: otherProject, Rating: -1}} {
		if got := fmt.Sprintf("%.3f", p.weight()); got != want {
			t.Errorf("%+v weighs %s, want %s", p, got, want)
		}
	}
}

// The features of passages of three conversations, and of two that stand alone.
func TestFeatures(t *testing.T) {
	q := Ask("Who fired the kiln for Anna in September?", monday)
	q.Weigh([]int{20, 10, 5}, 1000, 4000)
	var all []*Passage
	add := func(thread int64, content string, traits passage.Traits, at time.Time, edit func(*Passage)) {
		p := &Passage{ID: int64(len(all) + 1), Thread: thread, Turn: 1, Position: float64(len(all)), Created: at, Length: 4,
			Traits: traits, Found: true}
		if edit != nil {
			edit(p)
		}
		about := "glaze"
		if p.ID == 6 {
			about = "fire glaze"
		}
		q.Read(p, content, []byte(about))
		all = append(all, p)
	}
	then := time.Date(2026, 9, 30, 23, 0, 0, 0, time.UTC)
	add(1, "boat kiln anna boat", passage.Asks, monday, nil)
	add(1, "fire kiln", 0, then, nil)
	add(1, "boat", passage.Narrates, then.Add(24*time.Hour), nil)
	add(1, "boat", 0, then.Add(26*time.Hour), nil)
	add(1, "boat", 0, then.AddDate(0, 0, -30), nil)
	add(1, "boat", 0, then.AddDate(0, 0, -31), nil)
	add(2, "kiln", 0, monday, nil)
	add(2, "anna kiln", 0, monday, func(p *Passage) { p.Turn = 0 })
	add(0, "anna", 0, monday, nil)
	add(0, "fire kiln kiln anna", 0, monday, func(p *Passage) { p.Found = false })
	ranked := q.Rank(all)
	var got strings.Builder
	for _, p := range all {
		fmt.Fprintf(&got, "%d own %.2f %s\n", p.ID, p.Own,
			strings.ReplaceAll(fmt.Sprintf("%.2f", p.features), "0.00", "-"))
	}
	const want = `9 own 0.38 {0.38 0.38 0.38 - - - - - - -}
10 own 1.10 {- - - - - - - - - -}
1 own 0.72 {0.89 0.72 1.00 - 1.00 - 0.50 - - -}
2 own 0.62 {0.85 0.92 1.00 0.72 - 1.00 0.50 - - -}
3 own 0.00 {0.51 0.74 1.00 - - 1.00 - 2.00 - -}
4 own 0.00 {0.31 0.59 1.00 - - - - - - -}
5 own 0.00 {0.19 0.32 1.00 - - 1.00 - - - -}
6 own 0.19 {0.19 0.19 1.00 - - - - - - -}
7 own 0.33 {0.56 0.33 0.70 - - - - - - -}
8 own 0.72 {0.72 0.72 0.70 - - - 0.50 - 1.00 -}
`
	if got.String() != want || len(ranked) != 9 {
		t.Errorf("%d ranked\n%s", len(ranked), got.String())
	}
	order := ""
	for _, p := range ranked {
		order += fmt.Sprint(p.ID, " ")
	}
	if order != "2 3 5 8 1 4 7 6 9 " {
		t.Errorf("ranked %s", order)
	}
	if words := strings.Join(q.Matched(all[4]), " "); words != "Anna kiln fired" {
		t.Errorf("matched %s", words)
	}
}

// What a prompt names and looks for, which part of it lies in "kiln kiln anna", and what nobody has
// said of it.
func TestQuery(t *testing.T) {
	for question, c := range map[string]struct {
		docs []int
		want string
	}{
		"kiln glaze":                         {[]int{10, 5}, "[glaze kiln] .47 unused .00 .00, uncommon 1.00"},
		"anna kiln":                          {[]int{10, 0}, "[kiln anna] 1.00 unused .63 .00, uncommon 1.00"},
		"did Anna fire the kiln":             {[]int{10, 5, 900}, "[fire Anna kiln] .47 unused .00 .00, uncommon 1.00"},
		"pool.go":                            {[]int{5, 10, 20}, "[pool.go pool] .00 unused .00 .00, uncommon 1.00"},
		"pool.go and F5":                     {[]int{0, 10, 20, 11}, "[pool.go pool F5] .00 unused .47 .00, uncommon 1.00"},
		"anna: F5":                           {[]int{1, 10}, "[anna F5] .59 unused .00 .00, uncommon 1.00"},
		"ask Anna and Bo":                    {[]int{1, 0}, "[Bo Anna] .46 unused .54 .50, uncommon 1.00"},
		"用户表":                                {[]int{0, 3}, "[] .00 unused .00 .00, uncommon 1.00"},
		"用户":                                 {[]int{0}, "silent [] .00 unused .00 .00, uncommon 1.00"},
		"fix the test":                       {[]int{1, 1}, "silent [fix test] .00 unused .00 .00, uncommon .00"},
		"follow-up":                          {[]int{0, 3}, "silent [follow] .00 unused 1.00 .00, uncommon .00"},
		"fix the kiln":                       {[]int{9, 9}, "[fix kiln] .50 unused .00 .00, uncommon .50"},
		"Wo ist der Ofen von Anna und Bo Ba": {[]int{5, 5, 0, 0}, "[Bo Ba Ofen Anna] .20 unused .59 .00, uncommon 1.00"},
		"où est le four x1":                  {[]int{0, 0}, "[four x1] .00 unused .50 .00, uncommon 1.00"},
		"a1 b2 c3 d4 e5 f6 g7 h8 i9 j1 k1 l1 m1 n1 o1 p1 q1 r1 s1 t1 u1 v1 w1 y1 z1": {make([]int, 25),
			"[a1 b2 c3 d4 e5 f6 g7 h8 i9 j1 k1 l1 m1 n1 o1 p1 q1 r1 s1 t1 u1 v1 w1 y1] .00 unused 1.00 .00, uncommon 1.00"},
	} {
		q := ask(question, c.docs...)
		sought := []string{}
		for _, a := range q.asked {
			if !a.Pair {
				sought = append(sought, a.Word)
			}
		}
		got := fmt.Sprintf("%v %.2f ", sought, q.Held([]string{"kiln", "kiln", "anna", "boat"}))
		if q.Telling == 0 {
			got = "silent " + got
		}
		got += fmt.Sprintf("unused %.2f %.2f, uncommon %.2f", q.neverUsed(), q.unknownNames(), q.uncommon())
		if got = strings.ReplaceAll(got, " 0.", " ."); got != c.want {
			t.Errorf("%s:\n\t%s, want\n\t%s", question, got, c.want)
		}
	}
}
