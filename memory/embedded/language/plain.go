package language

import (
	"slices"
	"strings"
)

// A Plain text is one with its words as phrases have them, for all phrases that are looked for in it.
type Plain struct {
	Text   string
	Words  []Word
	folded []string // the words without accents and apostrophes, which many people do not type
}

// PlainOf reads a text.
func PlainOf(text string) Plain {
	p := Plain{Text: text, Words: Words(text)}
	p.folded = make([]string, len(p.Words))
	for i, w := range p.Words {
		p.folded[i] = strings.ReplaceAll(Fold(w.Text), "'", "")
	}
	return p
}

// Word returns the word at an index as phrases have it; "" behind the last one.
func (t Plain) Word(i int) string {
	if i < len(t.folded) {
		return t.folded[i]
	}
	return ""
}

// has reports whether a phrase stands at a word.
func (t Plain) has(phrase []string, at int) bool {
	return len(t.folded)-at >= len(phrase) && slices.Equal(t.folded[at:at+len(phrase)], phrase)
}
