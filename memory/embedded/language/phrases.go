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
	return phrases{sync.OnceValue(func() map[string][][]string {
		m := map[string][][]string{}
		for p := range strings.SplitSeq(list, "|") {
			if words := PlainOf(p).folded; len(words) > 0 {
				m[words[0]] = append(m[words[0]], words)
			}
		}
		return m
	}), spaced(strings.Fields(runs))}
}

func spaced(runs []string) []string {
	for i, run := range runs {
		runs[i] = strings.ReplaceAll(run, "_", " ")
	}
	return runs
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
