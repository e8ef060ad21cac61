package privacy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Wherever a phrase stands it is found, whatever words are around it, and however it is written.
func TestSeedPhrases(t *testing.T) {
	words := strings.Fields(seedList)
	r := rand.New(rand.NewPCG(14, 24))
	short := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return len(w) > 3 })
	pick := func(words []string, n int) []string {
		picked := make([]string, n)
		for i := range picked {
			picked[i] = words[r.IntN(len(words))]
		}
		return picked
	}
	for _, between := range []string{" ", "\n", ", ", "\" \"", " 7. "} {
		for shift := range 96 {
			before := strings.Repeat("x", shift) + " the " + strings.Join(pick(words, 2), " ") + " of "
			behind := " and that is " + words[shift]
			for _, phrase := range [][]string{pick(words, minSeed+r.IntN(13)), pick(short, minSeed)} {
				text := before + strings.Join(phrase, between) + behind
				if got := Redact(text); got != before+"[redacted:seed-phrase]"+behind {
					t.Fatalf("%d bytes shifted: %q", shift, got)
				}
			}
			few := strings.Join(pick(words, minSeed-1), between)
			if got := Redact(before + few + behind); got != before+few+behind {
				t.Fatalf("%d bytes shifted, a word less: %q", shift, got)
			}
		}
	}
}
