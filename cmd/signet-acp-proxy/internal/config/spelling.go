package config

import (
	"fmt"
	"slices"
	"strings"
)

// DidYouMean names the word that was probably meant, if one is like the wrong one.
func DidYouMean(wrong string, words []string) string {
	likely := slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		return !strings.HasPrefix(word, wrong) && distance(word, wrong) > len(strings.TrimLeft(wrong, "-"))/2
	})
	if len(likely) == 0 {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", nearest(wrong, likely))
}

// UnknownAgent is the error for the name of an agent that is none of those known.
func UnknownAgent(name string, known []string) error {
	if hint := DidYouMean(name, known); hint != "" {
		return fmt.Errorf("unknown agent %q%s", name, hint)
	}
	return fmt.Errorf("unknown agent %q: use one of %s, or give its command after --", name,
		strings.Join(known, ", "))
}

// nearest finds the word that is most like a wrong one.
func nearest(wrong string, words []string) string {
	return slices.MinFunc(words, func(a, b string) int { return distance(wrong, a) - distance(wrong, b) })
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j]+1, row[j+1]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
