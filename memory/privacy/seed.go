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

// mayHave reports whether a word of so many bytes and that hash may be in the set.
func (s *seedSet) mayHave(size int, hash uint64) bool {
	at, bit := seedSlot(hash)
	return 3 <= size && size <= 8 && s.table[at]&bit != 0
}

const (
	leastSeed  = 12 // words that a phrase has at least
	otherSeeds = 8  // different words among them at least
	mostSeed   = 48 // words that a phrase has at most; a longer run is a list of words
	likelySeed = 4  // words at the text's end from which on more text may make a phrase
)

// leastPhrase is how many bytes a phrase has at least: words of three letters, one byte between any two.
const leastPhrase = 3*leastSeed + leastSeed - 1

// seeds finds seed phrases: words of seedList with nothing but white space, numbers, commas and quotes between them. No
// phrase fits between two places that are leastPhrase apart, so that it looks at one word there, and at its neighbours
// only if that may be of seedList.
func (f *findings) seeds(text string) {
	set := seedWords()
	for at := leastPhrase - 1; at < len(text); {
		start, end, next, n := set.around(text, at)
		if n >= leastSeed {
			f.seedsIn(text, start, end)
		}
		at = next + leastPhrase - 1
	}
	if f.growing { // more text may make a phrase of its last words
		f.seedsIn(text, set.startOf(text, len(text)), len(text))
	}
}

// around returns where words begin and end that may be of seedList, of which one is at a place of the text or the next
// behind it, how many they are, and where the next phrase may begin.
func (s *seedSet) around(text string, at int) (start, end, next, n int) {
	for at > 0 && lower(text[at]) && lower(text[at-1]) {
		at--
	}
	for end = at; ; n++ {
		var is bool
		if next, is = s.next(text, end); !is {
			break
		}
		end = next
	}
	if n == 0 {
		return at, at, next, 0
	}
	for start = at; ; n++ {
		before, is := s.before(text, start)
		if !is {
			return start, end, next, n
		}
		start = before
	}
}

// startOf returns where the words begin that may be of seedList and reach up to a place of the text.
func (s *seedSet) startOf(text string, end int) int {
	for {
		before, is := s.before(text, end)
		if !is {
			return end
		}
		end = before
	}
}

// next returns the end of the next word, if that may be of seedList and nothing else is in front of it; otherwise the
// end of what is.
func (s *seedSet) next(text string, i int) (end int, is bool) {
	for i < len(text) && betweenSeeds[text[i]] {
		i++
	}
	if i == len(text) {
		return i, false
	}
	if !lower(text[i]) {
		return i + 1, false
	}
	end, hash := i, uint64(0)
	for end < len(text) && lower(text[end]) {
		hash = seedHash(hash, text[end])
		end++
	}
	return end, s.mayHave(end-i, hash)
}

// before returns the start of the word before a place, if that may be of seedList and nothing else is between.
func (s *seedSet) before(text string, i int) (start int, is bool) {
	for i > 0 && betweenSeeds[text[i-1]] {
		i--
	}
	start = i
	for start > 0 && lower(text[start-1]) {
		start--
	}
	hash := uint64(0)
	for k := start; k < i; k++ {
		hash = seedHash(hash, text[k])
	}
	return start, s.mayHave(i-start, hash)
}

func lower(c byte) bool { return c-'a' <= 'z'-'a' }

// betweenSeeds has the bytes that may stand between the words of a phrase.
var betweenSeeds = func() (is [256]bool) {
	for _, c := range []byte(" \t\r\n,;|\"'0123456789.)") {
		is[c] = true
	}
	return is
}()

// seedsIn finds the phrases in text[from:to].
func (f *findings) seedsIn(text string, from, to int) {
	set := seedWords()
	var run seedRun
	for i := from; i < to; {
		if c := text[i]; !lower(c) {
			if !betweenSeeds[c] {
				f.endSeeds(&run)
			}
			i++
			continue
		}
		end := i
		for end < to && lower(text[end]) {
			end++
		}
		is := set.words[text[i:end]]
		switch {
		case is && run.n == 0 && i > 0 && wordByte(text[i-1]): // the end of a longer word
		case is:
			run.add(text, i, end)
		default:
			f.endSeeds(&run)
		}
		i = end
	}
	if to == len(text) && run.n >= likelySeed && run.n <= mostSeed {
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
