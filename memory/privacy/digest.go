package privacy

import (
	"crypto/sha256"
	"encoding/hex"
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

// newDigests makes digests that nobody can compare with those of another salt.
func newDigests(salt []byte) *Digests { return &Digests{salt: salt, known: map[string]bool{}} }

// of returns the digests of passages, as text.
func (d *Digests) of(passages []string) (list []string) {
	for _, passage := range passages {
		for _, piece := range pieces(passage) {
			words := tokens(piece)
			for i := 0; i < len(words); i += maxRun {
				from, to := i, min(len(words), i+maxRun)
				if to-from < maxRun {
					from = max(0, to-maxRun) // a short rest alone would stand in every text
				}
				h := d.begin()
				for _, w := range words[from:to] {
					h.add(w.text)
				}
				list = append(list, h.sum(to-from))
			}
		}
	}
	return list
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

// has reports whether a digest is known.
func (d *Digests) has(digest string) bool { return d.known[digest] }

// conceal replaces what text repeats of the passages by "[private]".
func (d *Digests) conceal(text string) string {
	r := recogniser{digests: d}
	return r.add(text, true)
}

// A runDigest is made word by word. Its first byte is the number of words.
type runDigest struct{ text []byte }

func (d *Digests) begin() *runDigest { return &runDigest{append([]byte(nil), d.salt...)} }

func (r *runDigest) add(word string) { r.text = append(append(r.text, 0), word...) }

func (r *runDigest) sum(words int) string {
	sum := sha256.Sum256(r.text)
	sum[0] = byte(words)
	return hex.EncodeToString(sum[:digestSize])
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

// A recogniser conceals in text that arrives in pieces what digests know.
type recogniser struct {
	digests *Digests
	held    string // the end of what came, which may be the beginning of a passage
}

// add takes the next piece of text and returns what is concealed by now and was not given before. At the end it holds
// nothing back.
func (r *recogniser) add(text string, end bool) string {
	text, r.held = r.held+text, ""
	if r.digests == nil || len(r.digests.known) == 0 {
		return text
	}
	words := tokens(text)
	var b strings.Builder
	done := 0
	for i := 0; i < len(words); i++ {
		// The last word may go on, and a run with it.
		if len(words)-i <= maxRun && !end && len(text)-words[i].start < maxOpen {
			b.WriteString(text[done:words[i].start])
			r.held = strings.Clone(text[words[i].start:])
			return b.String()
		}
		if n := r.digests.match(words[i:]); n > 0 {
			b.WriteString(text[done:words[i].start] + "[private]")
			i += n - 1
			done = words[i].end
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

// match returns the length of the longest known run at the start of words, 0 where there is none.
func (d *Digests) match(words []token) (longest int) {
	h := d.begin()
	for n := 1; n <= min(maxRun, len(words)); n++ {
		h.add(words[n-1].text)
		if d.runs[n] && d.known[h.sum(n)] {
			longest = n
		}
	}
	return longest
}
