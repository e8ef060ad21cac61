package privacy

import (
	"strings"
	"sync"
)

// A trigger is a string without which a rule finds nothing. The rule looks where it stands.
type trigger struct {
	text    string
	anyCase bool
	look    func(f *findings, text string, at int)
}

// triggers has those of all rules, to find them in one pass over a text.
var triggers = sync.OnceValue(func() *index[trigger] {
	x := &index[trigger]{}
	add := func(look func(f *findings, text string, at int), words ...string) {
		for _, w := range words {
			x.add(w[0], w[1], trigger{text: w, look: look})
		}
	}
	for _, s := range shapes {
		add(func(f *findings, text string, at int) { f.shape(text, at, s) }, s.need...)
	}
	add((*findings).cookie, "ookie", "OOKIE")
	add((*findings).pair, "value", "Value")
	add((*findings).variable, "variable")
	for _, root := range append(roots, "phrase") {
		for _, case1 := range []byte{root[0], root[0] - 'a' + 'A'} {
			for _, case2 := range []byte{root[1], root[1] - 'a' + 'A'} {
				x.add(case1, case2, trigger{root, true, (*findings).name})
			}
		}
	}
	return x
})

// triggered has each rule look where one of its triggers stands.
func (f *findings) triggered(text string) {
	x := triggers()
	for i := range len(text) - 1 {
		for _, t := range x.at(text[i], text[i+1]) {
			here := text[i:min(len(text), i+len(t.text))]
			if here == t.text || t.anyCase && strings.EqualFold(here, t.text) {
				t.look(f, text, i)
			}
		}
	}
}
