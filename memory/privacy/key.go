package privacy

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A prefix begins the keys of one kind. What follows it, the tail, must be long enough and look random.
type prefix struct {
	kind, text  string
	least, most int // bytes of a tail; most is 0 where there is no end
}

// prefixTable has what gitleaks knows of such keys, written from its rules by the tests in e2e/gitleaks; keyTable has
// those that it does not know, or knows longer ones of only. A line has the fields of a prefix.
var (
	//go:embed prefixes.txt
	prefixTable string
	//go:embed keys.txt
	keyTable string
)

const (
	minTail = 10  // bytes behind a prefix that can look random
	maxTail = 512 // bytes that are looked at: what goes on for longer begins again and again in a long word
)

// prefixes has the longest first.
var prefixes = sync.OnceValue(func() *index[prefix] {
	all := readPrefixes(keyTable)
	for _, p := range readPrefixes(prefixTable) {
		if p.signed() { // what was cut is half a secret, too
			p.least = max(min(p.least, minTail), 3*p.least/4)
		}
		if p.telling() {
			p.least = min(p.least, 20)
		}
		p.least = max(p.least, minTail)
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b prefix) int { return len(b.text) - len(a.text) })
	x := &index[prefix]{}
	for _, p := range all {
		x.add(p.text[0], p.text[1], p)
	}
	return x
})

func readPrefixes(table string) (all []prefix) {
	for line := range strings.Lines(table) {
		var p prefix
		if _, err := fmt.Sscan(line, &p.kind, &p.text, &p.least, &p.most); err != nil {
			panic(err)
		}
		all = append(all, p)
	}
	return all
}

// signed reports whether the prefix ends in a sign: what does not may stand inside of any encoded text.
func (p prefix) signed() bool { return strings.IndexByte("_-.~", p.text[len(p.text)-1]) >= 0 }

// ambiguous prefixes begin other things, too: behind them the tail must be one run of letters and digits.
func (p prefix) ambiguous() bool {
	switch p.text {
	case "SG.", "sl.", "re_":
		return false
	case "secret_", "key-", "4b1d", "dapi", "api_org_", "live_", "test_", "ico-", "exa_", "ext_", "pat.", "sat.":
		return true
	}
	return len(p.text) <= 3
}

// telling reports whether nothing but keys begins like this.
func (p prefix) telling() bool { return len(p.text) >= 4 && p.signed() && !p.ambiguous() }

// begins reports whether a key begins at i: text[i:end] begins with the prefix, and the word that i stands in begins at
// start.
func (p prefix) begins(text string, start, i, end int) bool {
	tail := text[i+len(p.text) : min(end, i+len(p.text)+maxTail)]
	if len(tail) < p.least || placeholder(tail) {
		return false
	}
	head := tail[:p.least]
	if p.kind == "launchdarkly" && !hexadecimal(head) { // a UUID, and many names begin like this
		return false
	}
	if p.ambiguous() && !unbroken(head) || !p.random(head) && !p.random(tail) {
		return false
	}
	return i == start || p.telling() || behindGlue(text, i) || p.beginsInside(text, start, i, tail)
}

// beginsInside reports whether it begins inside of a longer name, or in encoded text.
func (p prefix) beginsInside(text string, start, i int, tail string) bool {
	head := tail[:p.least]
	switch {
	case p.text == "re_": // the end of many names
		return false
	case !p.signed():
		return runBefore(text, start, i) <= maxGlue && p.most > 0 &&
			len(tail)-len(strings.TrimLeftFunc(tail, inRun)) <= p.most
	case p.text == "hf_", // no name ends like that
		p.text == "sk-" && strings.IndexByte("aeiouAEIOU", text[i-1]) < 0: // not the end of a task or a disk
		return true
	}
	return !p.ambiguous() || digitsIn(head) && strings.ToLower(head) != head && strings.ToUpper(head) != head
}

const maxGlue = 4 // letters and digits before a key that encoded text has more of

// runBefore counts the letters and digits before i.
func runBefore(text string, start, i int) (n int) {
	for i-n > start && class(text[i-n-1]) != 0 {
		n++
	}
	return n
}

func inRun(r rune) bool { return r < utf8.RuneSelf && wordByte(byte(r)) }

// random reports whether a tail looks like a key's. One without digits does behind a prefix that begins nothing else,
// or where it is long and in upper and lower case.
func (p prefix) random(tail string) bool {
	if random(tail) {
		return true
	}
	telling := len(p.text) >= 5 && p.telling()
	return !wordy(tail) && (telling && entropy(tail) >= 2.5 || len(tail) >= 30 && unbroken(tail) && mixed(tail) &&
		entropy(tail) >= 3.5)
}

// behindGlue reports whether what stands before i ends there, although letters and digits do so: a sign between
// values, an escape (\n, \u0022, %22), or a terminal's colour whose escape character is gone.
func behindGlue(text string, i int) bool {
	before := text[max(0, i-12):i]
	last := before[len(before)-1]
	switch {
	case class(last) == 0 && strings.IndexByte("_-.", last) < 0:
		return true
	case strings.HasSuffix(before[:len(before)-1], "\\") && strings.IndexByte("nrtfvb", last) >= 0:
		return true
	case len(before) >= 3 && before[len(before)-3] == '%' && hexadecimal(before[len(before)-2:]):
		return true
	case len(before) >= 6 && strings.HasPrefix(before[len(before)-6:], "\\u") && hexadecimal(before[len(before)-4:]):
		return true
	}
	return last == 'm' && strings.HasSuffix(strings.TrimRight(before[:len(before)-1], "0123456789;"), "[")
}

// key returns where a key begins in text[start:end], which is one word.
func key(text string, start, end int) (at int, kind string, ok bool) {
	x := prefixes()
	for i := start; i+minWord <= end; i++ {
		for _, p := range x.at(text[i], text[i+1]) {
			if strings.HasPrefix(text[i:end], p.text) && p.begins(text, start, i, end) {
				return i, p.kind, true
			}
		}
	}
	return 0, "", false
}

// encodedKey returns the kind of a key in s, which is base64 of a text that holds one.
func encodedKey(s string) (kind string, ok bool) {
	s = strings.TrimRight(s, "=")
	if len(s) < minEncoded {
		return "", false
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		encoding = base64.RawURLEncoding
	}
	var begin [12]byte
	if _, err := encoding.Decode(begin[:], []byte(s[:16])); err != nil || !printable(begin[:]) {
		return "", false
	}
	raw, err := encoding.DecodeString(s)
	if err != nil || !printable(raw) {
		return "", false
	}
	for word := range strings.FieldsFuncSeq(string(raw), func(r rune) bool { return !wordBytes[byte(r)] }) {
		if _, kind, ok := key(word, 0, len(word)); ok {
			return kind, true
		}
	}
	return "", false
}

const minEncoded = 24 // bytes of base64 of the shortest key

func printable(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool {
		return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f
	})
}
