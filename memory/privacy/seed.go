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
	minSeed    = 12 // words that a phrase has at least
	otherSeeds = 8  // different words among them at least
	maxSeed    = 48 // words that a phrase has at most; a longer run is a list of words
	likelySeed = 4  // words at the text's end from which on more text may make a phrase

	shortestSeed, longestSeed = 3, 8 // letters of a word

	betweenSeeds = " \t\r\n,;|\"'0123456789.)" // what may stand between the words of a phrase
)

// seeds finds seed phrases: words of seedList with nothing but white space, numbers, commas and quotes between them.
func (f *findings) seeds(text string) {
	words := seedWords()
	var phrase []string
	start, end := 0, 0
	stop := func() {
		if isSeedPhrase(phrase) {
			f.add(start, end, "seed-phrase")
		}
		phrase = phrase[:0]
	}
	for i := 0; i < len(text); {
		if !lower(text[i]) {
			if len(phrase) > 0 && strings.IndexByte(betweenSeeds, text[i]) < 0 {
				stop()
			}
			i++
			continue
		}
		from := i
		for i < len(text) && lower(text[i]) {
			i++
		}
		switch word := text[from:i]; {
		case len(word) < shortestSeed, len(word) > longestSeed, !words[word]:
			stop()
		case len(phrase) > maxSeed:
		case len(phrase) > 0:
			end, phrase = i, append(phrase, word)
		case from == 0 || !wordByte(text[from-1]): // not the end of a longer word
			start, end, phrase = from, i, append(phrase, word)
		}
	}
	if len(phrase) >= likelySeed && len(phrase) <= maxSeed {
		f.wait(start, "")
	}
	stop()
}

func isSeedPhrase(words []string) bool {
	if len(words) < minSeed || len(words) > maxSeed {
		return false
	}
	slices.Sort(words)
	return len(slices.Compact(words)) >= otherSeeds
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }
