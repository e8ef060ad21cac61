package embedded

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/language"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// A gist is what a memory says, in a form by which texts that say the same can be found.
type gist struct {
	digest   string
	terms    language.Set
	passages []*regexp.Regexp
}

func gistOf(text string) gist { return gist{digest(text), statedTerms(text), patternsOf(text)} }

// statedTerms returns the terms of what a text states, without those that only announce it ("note: …").
func statedTerms(text string) language.Set {
	set := language.SetOf(language.Terms(text))
	maps.DeleteFunc(set, func(t string, _ bool) bool { return announcingWords()[t] })
	return set
}

var announcingWords = sync.OnceValue(func() language.Set {
	return language.SetOf(language.Terms("noted note understood recorded saved reminder fyi"))
})

// isAll reports whether a text says this and nothing more: with the same terms, or in the same words with nothing but
// common words beside them.
func (w gist) isAll(text string) bool {
	if len(w.terms) >= 2 && maps.Equal(statedTerms(text), w.terms) {
		return true
	}
	rest := cutPassages(text, w.passages)
	if rest == text {
		return false
	}
	return !slices.ContainsFunc(language.Terms(strings.ReplaceAll(rest, passage.Forgotten, " ")),
		func(t string) bool { return !language.Common(t) })
}

// cut replaces in a text what it says of this in the same words, and the sentences that say it with the same terms.
func (w gist) cut(text string) string {
	cut := slices.Clone(w.passages)
	for _, sentence := range language.Sentences(text) {
		if w.isAll(sentence.Text) {
			cut = append(cut, patternsOf(sentence.Text)...)
		}
	}
	return cutPassages(text, cut)
}

// probeOf returns a word by which SQL finds the texts that say the same: the longest one, of ASCII where there is one,
// because SQLite's lower changes no other letters.
func probeOf(text string) string {
	longest, ascii := "", ""
	for _, w := range language.Words(text) {
		if len(w.Text) > len(longest) {
			longest = w.Text
		}
		if lower := strings.ToLower(w.Text); len(lower) > len(ascii) &&
			!strings.ContainsFunc(lower, func(r rune) bool { return r >= utf8.RuneSelf }) {
			ascii = lower
		}
	}
	return cmp.Or(ascii, longest)
}

// patternsOf returns patterns that find the sentences of text, also where Markdown stands between their words.
func patternsOf(text string) []*regexp.Regexp {
	var list []*regexp.Regexp
	for piece := range strings.SplitSeq(strings.TrimSuffix(text, " …"), passage.Forgotten) {
		for _, sentence := range language.SplitSentences(piece) {
			var pattern strings.Builder
			n := 0
			for _, w := range language.Words(sentence) {
				if n > 0 {
					pattern.WriteString(`[^\pL\pN]+`)
				}
				pattern.WriteString(regexp.QuoteMeta(w.Text))
				n++
			}
			if n < 2 && len(sentence) < 8 {
				continue
			}
			list = append(list, regexp.MustCompile(`(?i)`+pattern.String()))
		}
	}
	return list
}

// cutPassages puts passage.Forgotten in the place of what the patterns match.
func cutPassages(text string, passages []*regexp.Regexp) string {
	for _, p := range passages {
		text = p.ReplaceAllLiteralString(text, passage.Forgotten)
	}
	return text
}
