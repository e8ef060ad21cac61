package language

import (
	"slices"
	"strings"
	"sync"
)

// Phrases are ways to say one thing, in several languages. Words are compared folded.
type Phrases struct {
	parse func() map[string][][]string // words by the first of them
	runs  []string                     // of scripts that set no spaces
}

// NewPhrases makes Phrases of list, separated by |, and of runs of scripts without spaces, separated by spaces. They
// are parsed when they are first used.
func NewPhrases(list, runs string) Phrases {
	return Phrases{sync.OnceValue(func() map[string][][]string {
		m := map[string][][]string{}
		for p := range strings.SplitSeq(list, "|") {
			if words := phraseWords(p); len(words) > 0 {
				m[words[0]] = append(m[words[0]], words)
			}
		}
		return m
	}), strings.Fields(runs)}
}

// In reports whether one of them stands in a text.
func (p Phrases) In(text string) bool { return p.find(text, false) }

// Begins reports whether a text begins with one of them, or with up to three stop words before it: "and please also …".
func (p Phrases) Begins(text string) bool { return p.find(text, true) }

// After returns the terms of the words that follow one of them in a text, of at most most words.
func (p Phrases) After(text string, most int) []string {
	words, folded := Words(text), phraseWords(text)
	var terms []string
	for i, w := range folded {
		for _, phrase := range p.parse()[w] {
			if len(folded)-i < len(phrase) || !slices.Equal(folded[i:i+len(phrase)], phrase) {
				continue
			}
			if start, end := i+len(phrase), min(i+len(phrase)+most, len(words)); start < end {
				terms = append(terms, Terms(text[words[start].At:words[end-1].At+len(words[end-1].Text)])...)
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

// phraseWords returns the words of a text as phrases have them. Many people type no apostrophes.
func phraseWords(text string) []string {
	folded := foldedWords(text)
	for i, w := range folded {
		folded[i] = apostrophes.Replace(w)
	}
	return folded
}

var apostrophes = strings.NewReplacer("'", "", "’", "")

const maxLeading = 3 // words before a beginning: "and please also …"

func (p Phrases) find(text string, beginning bool) bool {
	for _, run := range p.runs {
		if at := strings.Index(text, run); at >= 0 && (!beginning || at < 12) {
			return true
		}
	}
	folded := phraseWords(text)
	for i, w := range folded {
		if beginning && i > 0 && (i > maxLeading || stopWordLanguages()[folded[i-1]] == 0) {
			return false
		}
		if slices.ContainsFunc(p.parse()[w], func(words []string) bool {
			return len(folded)-i >= len(words) && slices.Equal(folded[i:i+len(words)], words)
		}) {
			return true
		}
	}
	return false
}
