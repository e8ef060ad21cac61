package privacy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Digests are salted digests of private passages. They tell a passage that is met again, also in another process, and
// hold none of its words. A passage is known by runs of words, whatever stands between these: the whole of it, its
// lines, and the words that no dictionary has. It is not safe for concurrent use.
type Digests struct {
	salt  []byte
	known map[string]bool
	runs  [maxRun + 1]bool // the lengths of the known runs, in words
}

const (
	maxRun     = 16 // words of one digest; a longer passage has several
	digestSize = 16 // bytes
)

// of returns the digests of passages, as text.
func (d *Digests) of(passages []string) (list []string) {
	for _, passage := range passages {
		for _, piece := range pieces(passage) {
			words := tokens(piece)
			for i := 0; i < len(words); i += maxRun {
				to := min(len(words), i+maxRun)
				from, run := max(0, to-maxRun), slices.Clone(d.salt) // a short rest alone would stand in every text
				for _, w := range words[from:to] {
					run = append(append(run, 0), w.text...)
				}
				list = append(list, digest(run, to-from))
			}
		}
	}
	return list
}

// digest returns that of a salted run. Its first byte is the number of words.
func digest(run []byte, words int) string {
	sum := sha256.Sum256(run)
	sum[0] = byte(words)
	return hex.EncodeToString(sum[:digestSize])
}

// learn adds digests that of returned.
func (d *Digests) learn(digests ...string) {
	for _, text := range digests {
		raw, err := hex.DecodeString(text)
		if err == nil && len(raw) == digestSize && 0 < raw[0] && raw[0] <= maxRun {
			d.known[text], d.runs[raw[0]] = true, true
		}
	}
}

// conceal replaces what text repeats of the passages by "[private]". Unless it is the end, what may be the beginning of
// one is held back: it stands in front of the text that comes next.
func (d *Digests) conceal(text string, end bool) (given, held string) {
	if d == nil || len(d.known) == 0 {
		return text, ""
	}
	words := tokens(text)
	var b strings.Builder
	done := 0
	for i := 0; i < len(words); i++ {
		// The last word may go on, and a run with it.
		if len(words)-i <= maxRun && !end && len(text)-words[i].start < maxOpen {
			b.WriteString(text[done:words[i].start])
			return b.String(), strings.Clone(text[words[i].start:])
		}
		if n := d.match(words[i:]); n > 0 {
			b.WriteString(text[done:words[i].start] + "[private]")
			i += n - 1
			done = words[i].end
		}
	}
	b.WriteString(text[done:])
	return b.String(), ""
}

// match returns the length of the longest known run at the start of words, 0 where there is none.
func (d *Digests) match(words []token) (longest int) {
	run := slices.Clone(d.salt)
	for n := 1; n <= min(maxRun, len(words)); n++ {
		run = append(append(run, 0), words[n-1].text...)
		if d.runs[n] && d.known[digest(run, n)] {
			longest = n
		}
	}
	return longest
}

// A token is a word of a text, in lower case: letters and digits. In scripts without spaces each letter is one.
type token struct {
	text       string
	start, end int
}

func tokens(text string) (list []token) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !inToken(r) {
			i += size
			continue
		}
		end := i + size
		for !unspaced(r) && end < len(text) {
			next, size := utf8.DecodeRuneInString(text[end:])
			if !inToken(next) || unspaced(next) {
				break
			}
			end += size
		}
		list = append(list, token{strings.ToLower(text[i:end]), i, end})
		i = end
	}
	return list
}

func inToken(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func unspaced(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
