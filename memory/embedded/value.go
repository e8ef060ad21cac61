package embedded

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/rank"
	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// Of two values of one thing ("the limit is 1 a day", "the limit is 3 a day") the older stays out.

const (
	minAbout  = 2           // terms of a sentence that say what its value is of
	maxValues = 3           // numbers in it: more are a table
	sameTalk  = time.Minute // of sentences that are this close neither is older
)

// numbered is of things that numbers name: each is another one.
var numbered = pattern.New(`(?i)#\d|\b(?:issue|ticket|task|step|phase|part|section|chapter|milestone|round|option|pr|mr|` +
	`line|test|case|question|item|commit|page|version|v|schritt|zeile|aufgabe|frage|étape|ligne|paso|línea)s? ?\d`)

// value returns what a sentence gives a value for, and the value, both as terms; ok is false where it gives none.
func (s sentence) value() (about, value string, ok bool) {
	var words, numbers []string
	for _, term := range strings.Fields(s.key) {
		if strings.IndexFunc(term, unicode.IsDigit) < 0 {
			words = append(words, term)
		} else {
			numbers = append(numbers, term)
		}
	}
	ok = !s.code && len(words) >= minAbout && len(numbers) > 0 && len(numbers) <= maxValues &&
		!numbered().MatchString(s.text)
	return strings.Join(words, " "), strings.Join(numbers, " "), ok
}

// outdate takes out of passages the sentences whose value another of them gives anew. One that the prompt names stays.
func (t *selection) outdate(list []*rank.Passage) {
	list = slices.DeleteFunc(slices.Clone(list), func(c *rank.Passage) bool {
		return strings.IndexFunc(t.texts[c.ID].Content, unicode.IsDigit) < 0
	})
	slices.SortStableFunc(list, func(a, b *rank.Passage) int { return b.Created.Compare(a.Created) })
	newest, values := map[string]*rank.Passage{}, map[string]string{}
	for _, c := range list {
		t.cut[c.ID] = slices.DeleteFunc(t.sentences(c), func(s sentence) bool {
			about, value, ok := s.value()
			about += " in " + t.texts[c.ID].Project
			last := newest[about]
			if ok && last == nil {
				newest[about], values[about] = c, value
			}
			return ok && last != nil && values[about] != value && last.Created.Sub(c.Created) > sameTalk &&
				t.q.Held(strings.Fields(value)) == 0
		})
	}
}
