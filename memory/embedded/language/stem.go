package language

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
)

// A set of languages, one bit each.
type set uint16

const (
	english_ set = 1 << iota
	german_
	french_
	spanish_
	italian_
	portuguese_
	dutch_
	russian_
	all = 1<<iota - 1
)

var stemmers = [...]func(*snowballstem.Env) bool{english.Stem, german.Stem, french.Stem, spanish.Stem, italian.Stem,
	portuguese.Stem, dutch.Stem, russian.Stem}

// stem takes the endings off a word in lower case, as one language has them. Most words of a conversation come again and
// again: what they came to is kept for those that were met last.
func stem(word string, in set) string {
	place := &stems[maphash.String(stemSeed, word)%uint64(len(stems))]
	if known := place.Load(); known != nil && known.word == word && known.in == in {
		return known.stem
	}
	word = strings.Clone(word) // which may be a piece of a long text
	env := snowballstem.NewEnv(word)
	stemmers[bits.TrailingZeros16(uint16(in))](env)
	found := &stemmed{word, in, Fold(env.Current())}
	place.Store(found)
	return found.stem
}

type stemmed struct {
	word string
	in   set
	stem string
}

var (
	stems    [2 << 10]atomic.Pointer[stemmed]
	stemSeed = maphash.MakeSeed()
)

// silent gives for each word that says nothing, without its accents, the languages in which that is so.
var silent = sync.OnceValue(func() map[string]set {
	m := map[string]set{}
	for lang, list := range stopWords {
		for _, w := range Words(list) {
			m[Fold(w.Text)] |= lang
		}
	}
	return m
})

// languageOf is the language whose small words stand in a text most; English where that cannot be told. sure is false
// where there are none.
func languageOf(folded []string) (lang set, sure bool) {
	var counts [len(stemmers)]int
	for _, w := range folded {
		for in := silent()[w]; in != 0; in &= in - 1 {
			counts[bits.TrailingZeros16(uint16(in))]++
		}
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	return 1 << best, counts[best] > 0
}
