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

// A seedSet holds the words. Most words of a text are ruled out by a table, which costs less than looking them up.
type seedSet struct {
	words map[string]bool
	table [1 << (seedBits - 6)]uint64 // a bit for each of their hashes
}

const seedBits = 14 // of a hash: an eighth of the table is set

var seedWords = sync.OnceValue(func() *seedSet {
	set := &seedSet{words: make(map[string]bool, 2048)}
	for w := range strings.FieldsSeq(seedList) {
		set.words[w] = true
		var hash uint64
		for i := range len(w) {
			hash = seedHash(hash, w[i])
		}
		at, bit := seedSlot(hash)
		set.table[at] |= bit
	}
	return set
})

// seedHash goes on with the hash of a word by a letter.
func seedHash(h uint64, letter byte) uint64 { return h<<5 | uint64(letter&0x1f) }

// seedSlot is where a hash stands in the table.
func seedSlot(hash uint64) (at, bit uint64) {
	h := hash * 0x9e3779b97f4a7c15 >> (64 - seedBits)
	return h >> 6, 1 << (h & 63)
}

// has reports whether a word of that hash is in the set.
func (s *seedSet) has(word string, hash uint64) bool {
	at, bit := seedSlot(hash)
	return s.table[at]&bit != 0 && s.words[word]
}

const (
	leastSeed  = 12 // words that a phrase has at least
	otherSeeds = 8  // different words among them at least
	mostSeed   = 48 // words that a phrase has at most; a longer run is a list of words
	likelySeed = 4  // words at the text's end from which on more text may make a phrase
)

// seeds finds seed phrases: words of seedList with nothing but white space, numbers, commas and quotes between them.
func (f *findings) seeds(text string) {
	set := seedWords()
	var run seedRun
	for i := 0; i < len(text); {
		if c := text[i]; c-'a' > 'z'-'a' {
			if run.n > 0 && strings.IndexByte(" \t\r\n,;|\"'0123456789.)", c) < 0 {
				f.endSeeds(&run)
			}
			i++
			continue
		}
		end, hash := i, uint64(0)
		for end < len(text) && text[end]-'a' <= 'z'-'a' {
			hash = seedHash(hash, text[end])
			end++
		}
		is := end-i >= 3 && end-i <= 8 && set.has(text[i:end], hash)
		switch {
		case is && run.n == 0 && i > 0 && wordByte(text[i-1]): // the end of a longer word
		case is:
			run.add(text, i, end)
		case run.n > 0:
			f.endSeeds(&run)
		}
		i = end
	}
	if run.n >= likelySeed && run.n <= mostSeed {
		f.wait(run.start, "")
	}
	f.endSeeds(&run)
}

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
	if word := text[start:end]; r.n <= mostSeed && !slices.Contains(r.different, word) {
		r.different = append(r.different, word)
	}
}

// endSeeds ends a run, which may have been a phrase.
func (f *findings) endSeeds(r *seedRun) {
	if r.n >= leastSeed && r.n <= mostSeed && len(r.different) >= otherSeeds {
		f.add(r.start, r.end, "seed-phrase")
	}
	r.n, r.different = 0, r.different[:0]
}
