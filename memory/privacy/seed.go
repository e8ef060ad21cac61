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
	set := make(map[string]bool, 2048)
	for w := range strings.FieldsSeq(seedList) {
		set[w] = true
	}
	return set
})

const (
	leastSeed  = 12 // words that a phrase has at least
	otherSeeds = 8  // different words among them at least
	mostSeed   = 48 // words that a phrase has at most; a longer run is a list of words
	likelySeed = 4  // words at the text's end from which on more text may make a phrase
)

// seeds finds seed phrases: words of seedList with nothing but white space, numbers, commas and quotes between them.
func (f *findings) seeds(text string) {
	words := seedWords()
	start, last, n := 0, 0, 0 // of the run
	var run []string          // its words, each once
	stop := func() {
		if n >= leastSeed && n <= mostSeed && len(run) >= otherSeeds {
			f.add(start, last, "seed-phrase")
		}
		n, run = 0, run[:0]
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c-'a' > 'z'-'a' {
			if n > 0 && strings.IndexByte(" \t\r\n,;|\"'0123456789.)", c) < 0 {
				stop()
			}
			i++
			continue
		}
		end := i + 1
		for end < len(text) && text[end]-'a' <= 'z'-'a' {
			end++
		}
		word := text[i:end]
		switch {
		case len(word) < 3 || len(word) > 8 || i > 0 && wordByte(text[i-1]) && n == 0 || !words[word]:
			if n > 0 {
				stop()
			}
		default:
			if n == 0 {
				start = i
			}
			last, n = end, n+1
			if n <= mostSeed && !slices.Contains(run, word) {
				run = append(run, word)
			}
		}
		i = end
	}
	if n >= likelySeed && n <= mostSeed {
		f.wait(start, "")
	}
	stop()
}
