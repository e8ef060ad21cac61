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
func (p phrases) In(t Plain) bool {
	return p.End(t) > 0 || slices.ContainsFunc(p.runs, func(run string) bool { return strings.Contains(t.Text, run) })
}

const (
	maxLeading   = 3  // words before a beginning: "and please also …",
	leadingBytes = 12 // and bytes where no spaces are set
)

// Begins reports whether a text begins with one of them, or with up to three stop words before it: "and please also …".
func (p phrases) Begins(t Plain) bool {
	for i := range t.folded[:min(len(t.folded), maxLeading+1)] {
		if i > 0 && stopWordLanguages()[t.folded[i-1]] == 0 {
			break
		}
		if p.at(t, i) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(p.runs, func(run string) bool {
		at := strings.Index(t.Text, run)
		return at >= 0 && at < leadingBytes
	})
}

// End returns the index of the word behind the first of them that stands in a text; 0 for none, and where no spaces
// are set.
func (p phrases) End(t Plain) int {
	for i := range t.folded {
		if n := p.at(t, i); n > 0 {
			return i + n
		}
	}
	return 0
}

// After returns the terms of the words that follow one of them in a text, of at most most words.
func (p phrases) After(text string, most int) []string {
	t := PlainOf(text)
	var terms []string
	for i := range t.folded {
		n := p.at(t, i)
		if start, end := i+n, min(i+n+most, len(t.Words)); n > 0 && start < end {
			terms = append(terms, Terms(text[t.Words[start].At:t.Words[end-1].At+len(t.Words[end-1].Text)])...)
		}
	}
	for _, run := range p.runs {
		if _, rest, found := strings.Cut(text, run); found {
			runes := []rune(rest)
			terms = append(terms, Terms(string(runes[:min(len(runes), 4*most)]))...)
		}
	}
	return terms
}

// at returns how many words one of them takes that begins at a word; 0 for none.
func (p phrases) at(t Plain, i int) int {
	for _, phrase := range p.parse()[t.folded[i]] {
		if rest := t.folded[i:]; len(rest) >= len(phrase) && slices.Equal(rest[:len(phrase)], phrase) {
			return len(phrase)
		}
	}
	return 0
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
		p.folded[i] = strings.ReplaceAll(w.Folded, "'", "")
	}
	return p
}

// Word returns the word at an index as phrases have it; "" before the first and behind the last one.
func (t Plain) Word(i int) string {
	if i >= 0 && i < len(t.folded) {
		return t.folded[i]
	}
	return ""
}
