package privacy

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Wherever a phrase stands it is found, whatever words are around it, and however it is written.
func TestSeedPhrases(t *testing.T) {
	words := strings.Fields(seedList)
	r := rand.New(rand.NewPCG(14, 24))
	pick := func(n int) []string {
		picked := make([]string, n)
		for i := range picked {
			picked[i] = words[r.IntN(len(words))]
		}
		return picked
	}
	for _, between := range []string{" ", "\n", ", ", "\" \"", " 7. "} {
		for shift := range 2 * leastPhrase {
			phrase := strings.Join(pick(leastSeed+r.IntN(13)), between)
			before, behind := strings.Repeat("x", shift)+" the "+strings.Join(pick(2), " ")+" of ", " and that is "+words[shift]
			if got := Redact(before + phrase + behind); got != before+"[redacted:seed-phrase]"+behind {
				t.Fatalf("%d bytes shifted: %q", shift, got)
			}
			few := strings.Join(pick(leastSeed-1), between)
			if got := Redact(before + few + behind); got != before+few+behind {
				t.Fatalf("%d bytes shifted, a word less: %q", shift, got)
			}
		}
	}
}
