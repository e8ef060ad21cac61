package privacy

import (
	"encoding/base64"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// random reports whether s looks made by a generator: it has many different characters, no words, and either digits
// among the letters or letters that often change their case.
func random(s string) bool {
	if entropy(s) < 3 || !mixed(s) || wordy(s) {
		return false
	}
	n := classChanges(s)
	return n >= 2 && (digitsIn(s) || 3*n >= len(s))
}

// veryRandom is stricter than random, for strings with neither a name nor a prefix beside them: nothing but a secret
// should look like that. Hexadecimal strings never do.
func veryRandom(s string) bool {
	upper, lower, digits, n := 0, 0, 0, 0
	for i := range len(s) {
		switch class(s[i]) {
		case 'A':
			upper++
		case 'a':
			lower++
		case '0':
			digits++
		default:
			continue
		}
		n++
	}
	all := upper > 0 && lower > 0 && digits > 0
	return all && entropy(s) >= 4 && float64(classChanges(s)) >= 0.45*float64(n-1) && !wordy(s) && !base64Text(s)
}

// entropy returns the Shannon entropy of s in bits per byte, by how often each byte occurs in s itself.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// classChanges counts how often s changes between upper case, lower case and digits.
func classChanges(s string) int {
	n, last := 0, byte(0)
	for i := range len(s) {
		if c := class(s[i]); c != 0 {
			if last != 0 && c != last {
				n++
			}
			last = c
		}
	}
	return n
}

// mixed reports whether s has letters and digits, or both cases.
func mixed(s string) bool {
	var seen [128]bool
	for i := range len(s) {
		seen[class(s[i])] = true
	}
	return seen['0'] && (seen['a'] || seen['A']) || seen['a'] && seen['A']
}

func digitsIn(s string) bool { return strings.ContainsAny(s, "0123456789") }

// wordy reports whether more than half of the letters and digits of s stand in words: runs of three letters or more in
// one case, a capital before them allowed.
func wordy(s string) bool {
	all, inWords := 0, 0
	for i := 0; i < len(s); {
		c := class(s[i])
		if c == '0' {
			all++
		}
		if c != 'a' && c != 'A' {
			i++
			continue
		}
		end := i + 1
		if c == 'A' && end < len(s) && class(s[end]) == 'a' {
			c = 'a'
		}
		for end < len(s) && class(s[end]) == c {
			end++
		}
		all += end - i
		if end-i >= 3 && likelyWord(s[i:end]) {
			inWords += end - i
		}
		i = end
	}
	return 2*inWords > all
}

// likelyWord reports whether a run of letters is likely a word: at least two thirds of its letterPairs are common ones.
// One in ten random runs passes, and four in five words.
func likelyWord(run string) bool {
	common := 0
	for i := range len(run) - 1 {
		if letterPairs[run[i]|0x20-'a'][run[i+1]|0x20-'a'] {
			common++
		}
	}
	return 3*common >= 2*(len(run)-1)
}

// letterPairs are the 180 most frequent pairs of letters in English and in code, which make up 84 % of all.
var letterPairs = func() (set [26][26]bool) {
	for p := range strings.FieldsSeq(`ab ac ad ag ai al am an ap ar as at ba be bi bl bu ca cc ce ch ci ck cl co cr ct
		cu da dd de di do dr ds ea ec ed ee ef eg
		el em en ep er es et ev ex fa fe ff fi fl fo ge gi gn go gr ha he hi ho ia ic id ie if ig il im in io ip ir is
		it iv iz ke la ld le li ll lo ls lt ly
		ma me mi mo mp ms na nc nd ne nf ng ni no ns nt oa oc od of ol om on oo op or os ot ou ov ow pa pe pi pl po pp
		pr ps pt qu ra rd re ri rm ro rr rs rt
		ru ry sa sc se sh si so sp ss st su sy ta te th ti to tr ts tt tu ty ub uc ui ul um un up ur us ut va ve vi wa
		yp ze`) {
		set[p[0]-'a'][p[1]-'a'] = true
	}
	return set
}()

// base64Text reports whether s is the base64 of plain text, which is an encoding and no secret by itself.
func base64Text(s string) bool {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	raw, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil || !utf8.Valid(raw) {
		return false
	}
	return strings.IndexFunc(string(raw), func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) < 0
}

// hexadecimal reports whether s consists of hexadecimal digits, the dashes of a UUID allowed.
func hexadecimal(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF-") == ""
}

// placeholder reports whether value stands for a secret and is none: a variable, a blank to fill in, or what was
// redacted before.
func placeholder(value string) bool {
	if value == "" || strings.ContainsAny(value[:1], "$<{%[*") {
		return true
	}
	if strings.HasPrefix(value, "...") || strings.HasPrefix(value, "…") {
		return true
	}
	if strings.Contains(value, "${") || strings.Contains(value, "{{") || strings.Contains(value, "redacted:") {
		return true
	}
	low := strings.ToLower(value)
	if placeholders()[strings.Trim(low, ".,!?-_ ")] {
		return true
	}
	for _, s := range []string{
		"your-", "your_", "xxxx", "****", "....", "placeholder", "changeme", "change-me", "change_me", "insert-", "dummy",
	} {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

var placeholders = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`password passwd pass secret token key apikey credentials credential bearer basic
		example sample test testing todo fixme none null
		nil undefined true false yes no on off string str bool boolean int integer number bytes text object any void
		required optional hidden visible masked
		invalid valid incorrect correct missing wrong expired empty blank unset set forgotten forgot reset changed
		current new old confirm same username user
		yourpassword mypassword enabled disabled default random generated unknown auto manual prompt input env
		environment vault redacted`) {
		set[w] = true
	}
	return set
})
