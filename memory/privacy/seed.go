package privacy

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// seedList has the English words of BIP 39, from which the seed phrases of wallets are made. "The", "and" and "of" are
// not among them, so that prose seldom has four in a row.
//
//go:embed seed.txt
var seedList string

var seedWords = sync.OnceValue(func() map[string]bool {
	words := make(map[string]bool, 2048)
	for w := range strings.FieldsSeq(seedList) {
		words[w] = true
	}
	return words
})

const (
	leastSeed  = 12 // words that a phrase has at least
	otherSeeds = 8  // different words among them at least
	maxSeed    = 48 // words that a phrase has at most; a longer run is a list of words
	likelySeed = 4  // words at the text's end from which on more text may make a phrase

	shortestSeed, longestSeed = 3, 8 // letters of a word

	betweenSeeds = " \t\r\n,;|\"'0123456789.)" // what may stand between the words of a phrase
)

// seeds finds seed phrases: words of seedList with nothing but white space, numbers, commas and quotes between them.
func (f *findings) seeds(text string) {
	words := seedWords()
	var run seedRun
	for i := 0; i < len(text); {
		if c := text[i]; !lower(c) {
			if run.n > 0 && strings.IndexByte(betweenSeeds, c) < 0 {
				f.endSeeds(&run)
			}
			i++
			continue
		}
		end := i + 1
		for end < len(text) && lower(text[end]) {
			end++
		}
		switch {
		case end-i < shortestSeed || end-i > longestSeed || !words[text[i:end]]:
			f.endSeeds(&run)
		case run.n > 0 || i == 0 || !wordByte(text[i-1]): // not the end of a longer word
			run.add(text, i, end)
		}
		i = end
	}
	if run.n >= likelySeed && run.n <= maxSeed {
		f.wait(run.start, "")
	}
	f.endSeeds(&run)
}

func lower(c byte) bool { return c-'a' <= 'z'-'a' }

// A seedRun is a run of words of seedList.
type seedRun struct {
	start, end int
	n          int      // of words
	different  []string // each once
}

func (r *seedRun) add(text string, start, end int) {
	if r.n == 0 {
		r.start = start
	}
	r.end, r.n = end, r.n+1
	if word := text[start:end]; r.n <= maxSeed && !slices.Contains(r.different, word) {
		r.different = append(r.different, word)
	}
}

// endSeeds ends a run, which may have been a phrase.
func (f *findings) endSeeds(r *seedRun) {
	if r.n >= leastSeed && r.n <= maxSeed && len(r.different) >= otherSeeds {
		f.add(r.start, r.end, "seed-phrase")
	}
	r.n, r.different = 0, r.different[:0]
}
