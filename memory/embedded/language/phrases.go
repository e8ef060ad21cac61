package language

import (
	"slices"
	"strings"
	"sync"
)

// phrases are ways to say one thing, in several languages. Words are compared folded.
type phrases struct {
	parse func() map[string][][]string // words by the first of them
	runs  []string                     // of scripts that set no spaces, and Korean
}

// NewPhrases makes phrases of list, separated by |, and of runs of scripts without spaces, separated by spaces; in
// Korean, which sets some, each is a _. They are parsed when they are first used.
func NewPhrases(list, runs string) phrases {
	spaced := strings.Fields(runs)
	for i, run := range spaced {
		spaced[i] = strings.ReplaceAll(run, "_", " ")
	}
	return phrases{sync.OnceValue(func() map[string][][]string {
		m := map[string][][]string{}
		for _, words := range alternatives(strings.ReplaceAll(list, "'", "")) {
			m[words[0]] = append(m[words[0]], words)
		}
		return m
	}), spaced}
}

// In reports whether one of them stands in a text.
func (p phrases) In(t Plain) bool { return p.find(t, false) }

// Begins reports whether a text begins with one of them, or with up to three stop words before it: "and please also …".
func (p phrases) Begins(t Plain) bool { return p.find(t, true) }

// End returns the index of the word behind the first of them that stands in a text; 0 for none, and where no spaces
// are set.
func (p phrases) End(t Plain) int {
	for i, w := range t.folded {
		for _, phrase := range p.parse()[w] {
			if t.has(phrase, i) {
				return i + len(phrase)
			}
		}
	}
	return 0
}

// After returns the terms of the words that follow one of them in a text, of at most most words.
func (p phrases) After(text string, most int) []string {
	t := PlainOf(text)
	var terms []string
	for i, w := range t.folded {
		for _, phrase := range p.parse()[w] {
			if !t.has(phrase, i) {
				continue
			}
			if start, end := i+len(phrase), min(i+len(phrase)+most, len(t.Words)); start < end {
				terms = append(terms, Terms(text[t.Words[start].At:t.Words[end-1].At+len(t.Words[end-1].Text)])...)
			}
		}
	}
	for _, run := range p.runs {
		if at := strings.Index(text, run); at >= 0 {
			rest := []rune(text[at+len(run):])
			terms = append(terms, Terms(string(rest[:min(len(rest), 4*most)]))...)
		}
	}
	return terms
}

const maxLeading = 3 // words before a beginning: "and please also …"

func (p phrases) find(t Plain, beginning bool) bool {
	for _, run := range p.runs {
		if at := strings.Index(t.Text, run); at >= 0 && (!beginning || at < 12) {
			return true
		}
	}
	for i, w := range t.folded {
		if beginning && i > 0 && (i > maxLeading || stopWordLanguages()[t.folded[i-1]] == 0) {
			return false
		}
		if slices.ContainsFunc(p.parse()[w], func(phrase []string) bool { return t.has(phrase, i) }) {
			return true
		}
	}
	return false
}

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
