package embedded

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
)

// What is told of a passage begins with a whole sentence or line of a list, says nothing twice, and keeps code as it is.
func TestParts(t *testing.T) {
	const list = "Two steps are left. 1. is not one.\n1. Paint the boat\n   twice\n2. Oil the kiln\n- and sweep"
	const code = "Run it:\n```go\nfor {\n\tgo()\n}\n```\nThen stop."
	for _, c := range []struct {
		text, about string
		most        int
		want        string
	}{
		{list, "kiln", 20, "… 2. Oil the kiln …"},
		{list, "kiln", 45, "… 2. Oil the kiln - and sweep"},
		{code, "go", 90, "Run it:\n```go\nfor {\n\tgo()\n}\n```\nThen stop."},
		{code, "go", 30, "…\n```go\nfor {\n\tgo()\n}\n```\n…"},
		{"窑里的釉面温度是一千二百度。 船在岸边。", "釉面", 33, "窑里的釉面温度是一 …"},
		{"the kiln is hot, and the boat is painted", "kiln", 22, "the kiln is hot, …"},
	} {
		all := sentencesOf(c.text)
		best := slices.IndexFunc(all, func(s sentence) bool { return strings.Contains(s.text, c.about) })
		if got := partAround(all, best, c.most).text(c.most); got != c.want {
			t.Errorf("%q, %d bytes: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// The user's words are told where they hold a quarter of the prompt, or one word of it and say how things are to be done.
func TestBears(t *testing.T) {
	q := rank.Ask("kiln glaze temperature boat paint harbour", time.Time{})
	q.Weigh([]int{10, 10, 10, 10, 10, 10}, 1000, 10_000)
	for text, want := range map[string]bool{
		"Check the kiln once more, please.":       false,
		"Check the glaze of the kiln.":            true,
		"Never open the kiln while it is hot.":    true,
		"Never open the door while it is raining": false,
	} {
		sel := selection{q: &q, texts: map[int64]Memory{1: {Content: text}}}
		if got := sel.bears(&rank.Passage{ID: 1, Traits: passage.TraitsOf(text, true)}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A decision that was taken back is told as such, in whatever session that was.
func TestTakenBack(t *testing.T) {
	w := newWorld(t)
	work := strings.Repeat("The kiln controller was changed as asked, and its tests are green. ", 20)
	w.said("/p", "a", "Let's use Redis for the session cache of the kiln.", work)
	w.now = w.now.AddDate(0, 0, 3)
	w.said("/p", "b", "Actually, let's go back to memcached for the session cache.", work)
	c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/p"}, "which session cache does the kiln use?", nil)
	if err != nil {
		t.Fatal(err)
	}
	about := map[string]string{}
	for _, it := range c.Items {
		about[it.Text] = it.About
	}
	redis, ok := about["Let's use Redis for the session cache of the kiln."]
	if !ok || !strings.Contains(redis, ", taken back on ") {
		t.Errorf("told %+v", c.Items)
	}
}

// A block has at most 2,000 bytes beside the identity, whatever the script and whatever is said about its items.
func TestBlockBound(t *testing.T) {
	const work = "The glaze of the kiln was made as you asked, and whoever fires it next finds its cone in the book of %s. "
	names := strings.Fields("celadon tenmoku shino raku oribe majolica slip ash salt soda lustre copper cobalt iron")
	for name, said := range map[string]string{
		"replaced": "The glaze of the kiln is %s at cone six, because the clay cracks when %[1]s gets hotter than that. ",
		"changed":  "We switched the glaze of the kiln to %s instead of cone six, because the clay of %[1]s cracks. ",
		"Chinese":  "窑里的釉面%s温度是一千二百度，因为港口的陶土在更高的温度下会开裂，所以%[1]s不要再加热。",
	} {
		w := newWorld(t)
		for i, of := range names {
			w.now = w.now.AddDate(0, 0, 1)
			w.said("/p", fmt.Sprint(name, i), strings.Repeat(fmt.Sprintf(said, of), 2), strings.Repeat(fmt.Sprintf(work, of), 8))
		}
		w.now = w.now.AddDate(0, 0, 1)
		w.said("/p", name, "We switched the glaze of each kiln to cone four instead of six.", strings.Repeat(fmt.Sprintf(work, "all"), 8))
		for _, prompt := range []string{"which cone has the glaze of the kiln?", "窑的釉面温度是多少度？"} {
			c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/p"}, prompt, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := memory.Compose("new", memory.Context{}, c, true)
			if len(b.Text) > 2000 {
				t.Errorf("%s, %s: %d bytes", name, prompt, len(b.Text))
			}
		}
	}
}
