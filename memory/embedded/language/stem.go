package language

import (
	"math/bits"
	"strings"
	"unicode"

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

// A set of languages, one bit each; the bit's number is the index in stemmers.
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

// term returns a word, or a part of an identifier, as it is indexed: without the endings that one language has; empty
// when it says nothing by itself.
func term(part string, in set) string {
	if n := len(part) - 1; n >= 2 && part[n] == 's' && strings.ToUpper(part[:n]) == part[:n] &&
		strings.IndexFunc(part, unicode.IsUpper) == 0 { // PDFs
		part = part[:n]
	}
	p := strings.ToLower(part)
	if len(p) > longestTerm || len(p) < 2 && !(len(p) == 1 && p[0] >= '0' && p[0] <= '9') {
		return ""
	}
	for i := range len(p) {
		if p[i] >= '0' && p[i] <= '9' {
			return Fold(p) // a version or a number has no endings
		}
	}
	env := snowballstem.NewEnv(p)
	stemmers[bits.TrailingZeros16(uint16(in))](env)
	return Fold(env.Current())
}
