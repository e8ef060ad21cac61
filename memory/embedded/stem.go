package embedded

import "strings"

// stem takes the endings off an English word (M. F. Porter, "An algorithm for suffix stripping", 1980). Words of other languages lose little by it, and
// the same on both sides; anything but a to z is left alone.
func stem(w string) string {
	if len(w) < 3 {
		return w
	}
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	// 1a
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "ss"):
	case strings.HasSuffix(w, "s"):
		w = w[:len(w)-1]
	}
	// 1b
	if s, ok := strings.CutSuffix(w, "eed"); ok {
		if changes(s) > 0 {
			w = w[:len(w)-1]
		}
	} else if s, ok := cutAny(w, "ed", "ing"); ok && hasVowel(s) {
		w = s
		switch {
		case strings.HasSuffix(w, "at"), strings.HasSuffix(w, "bl"), strings.HasSuffix(w, "iz"):
			w += "e"
		case doubled(w) && !strings.ContainsAny(w[len(w)-1:], "lsz"):
			w = w[:len(w)-1]
		case changes(w) == 1 && cvc(w):
			w += "e"
		}
	}
	// 1c
	if s, ok := strings.CutSuffix(w, "y"); ok && hasVowel(s) {
		w = s + "i"
	}
	w = replaceFirst(w, 0, step2)
	w = replaceFirst(w, 0, step3)
	// 4
	for _, suffix := range step4 {
		if s, ok := strings.CutSuffix(w, suffix); ok {
			if changes(s) > 1 && (suffix != "ion" || strings.HasSuffix(s, "s") || strings.HasSuffix(s, "t")) {
				w = s
			}
			break
		}
	}
	// 5
	if s, ok := strings.CutSuffix(w, "e"); ok {
		if m := changes(s); m > 1 || m == 1 && !cvc(s) {
			w = s
		}
	}
	if changes(w) > 1 && strings.HasSuffix(w, "ll") {
		w = w[:len(w)-1]
	}
	return w
}

var step2 = [][2]string{{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"abli", "able"}, {"alli", "al"},
	{"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"},
	{"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}}

var step3 = [][2]string{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}

var step4 = []string{"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"}

func replaceFirst(w string, least int, table [][2]string) string {
	for _, row := range table {
		if s, ok := strings.CutSuffix(w, row[0]); ok {
			if changes(s) > least {
				return s + row[1]
			}
			return w
		}
	}
	return w
}

func cutAny(w string, suffixes ...string) (string, bool) {
	for _, suffix := range suffixes {
		if s, ok := strings.CutSuffix(w, suffix); ok {
			return s, true
		}
	}
	return w, false
}

// vowelAt reports whether the letter at i is a vowel; y is one after a consonant.
func vowelAt(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !vowelAt(w, i-1)
	}
	return false
}

func hasVowel(w string) bool {
	for i := range len(w) {
		if vowelAt(w, i) {
			return true
		}
	}
	return false
}

// changes counts the changes from vowels to consonants: Porter's m.
func changes(w string) int {
	m, vowel := 0, false
	for i := range len(w) {
		v := vowelAt(w, i)
		if vowel && !v {
			m++
		}
		vowel = v
	}
	return m
}

func doubled(w string) bool {
	n := len(w)
	return n > 1 && w[n-1] == w[n-2] && !vowelAt(w, n-1)
}

// cvc reports whether w ends consonant, vowel, consonant, the last of them not w, x or y.
func cvc(w string) bool {
	n := len(w)
	return n > 2 && !vowelAt(w, n-3) && vowelAt(w, n-2) && !vowelAt(w, n-1) && !strings.ContainsAny(w[n-1:], "wxy")
}
