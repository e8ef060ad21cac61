package privacy

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// A concealer replaces what text, which arrives in pieces, repeats of private passages, as WithoutPrivate returns them,
// by "[private]": a passage, one of its lines, and those of its words that no dictionary has (digits, inner capitals,
// signs, great length), whatever their case and white space.
type concealer struct {
	known  map[string]bool
	pieces map[rune][]piece // by the first character, folded; longest first: a line is replaced before its words are
	held   string           // the end of what came, which may be the beginning of a piece
	before rune             // what stands before held
}

// A piece is a part of a passage that tells something by itself.
type piece struct {
	text   string
	folded []rune // in lower case, any white space a single space
	short  bool   // a few letters, which other words contain: in another case it is replaced only where it is a word
}

// learn adds passages, which are concealed from here on.
func (c *concealer) learn(private []string) {
	for _, passage := range private {
		if c.known[passage] {
			continue
		}
		if c.known == nil {
			c.known, c.pieces = map[string]bool{}, map[rune][]piece{}
		}
		c.known[passage] = true
		for _, text := range pieces(passage) {
			p := piece{text: text, folded: []rune(strings.ToLower(chars.OneLine(text)))}
			p.short = len(text) < 8 && strings.TrimFunc(text, unicode.IsLetter) == ""
			list := c.pieces[p.folded[0]]
			at, _ := slices.BinarySearchFunc(list, p, func(a, b piece) int {
				return cmp.Compare(len(b.text), len(a.text))
			})
			c.pieces[p.folded[0]] = slices.Insert(list, at, p)
		}
	}
}

// add takes the next piece of text and returns what is concealed by now and was not given before. At the end it holds
// nothing back.
func (c *concealer) add(text string, end bool) string {
	text, c.held = c.held+text, ""
	if len(c.pieces) == 0 {
		return text
	}
	var b strings.Builder
	done, i := 0, 0
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if list := c.pieces[unicode.ToLower(r)]; list != nil {
			n, more := c.match(text[i:], list, end)
			if more {
				break
			}
			if n > 0 {
				b.WriteString(text[done:i] + "[private]")
				i += n
				done, c.before = i, ']'
				continue
			}
		} else if !end && !utf8.FullRuneInString(text[i:]) {
			break
		}
		c.before = r
		i += size
	}
	c.held = strings.Clone(text[i:])
	if done == 0 {
		return text[:i]
	}
	b.WriteString(text[done:i])
	return b.String()
}

// match returns the length of the piece at the start of text, 0 where there is none. more says that this cannot be told
// yet.
func (c *concealer) match(text string, list []piece, end bool) (n int, more bool) {
	for _, p := range list {
		n, more := p.match(text)
		if more && !end {
			return 0, true
		}
		if n == 0 || !p.short || text[:n] == p.text {
			if n > 0 {
				return n, false
			}
			continue
		}
		if !end && !utf8.FullRuneInString(text[n:]) {
			return 0, true
		}
		if after, _ := utf8.DecodeRuneInString(text[n:]); !unicode.IsLetter(c.before) && !unicode.IsLetter(after) {
			return n, false
		}
	}
	return 0, false
}

const maxSpace = 64 // bytes of white space that are taken for one space

// match returns the length of p at the start of text, 0 where it is not there. more says that text ends within it.
func (p piece) match(text string) (n int, more bool) {
	for _, want := range p.folded {
		r, size := utf8.DecodeRuneInString(text[n:])
		switch {
		case !utf8.FullRuneInString(text[n:]):
			return 0, true
		case want == ' ' && unicode.IsSpace(r):
			start := n
			for ; size > 0 && unicode.IsSpace(r) && n-start < maxSpace; r, size = utf8.DecodeRuneInString(text[n:]) {
				n += size
			}
		case unicode.ToLower(r) == want:
			n += size
		default:
			return 0, false
		}
	}
	return n, false
}

// pieces are the parts of a private passage that tell something by themselves.
func pieces(passage string) []string {
	var list []string
	if len(passage) >= 3 { // what is shorter stands in every text
		list = append(list, passage)
	}
	for line := range strings.Lines(passage) {
		if line = strings.TrimSpace(line); len(line) >= 8 {
			list = append(list, line)
		}
	}
	for word := range strings.FieldsSeq(passage) {
		if word = strings.TrimFunc(word, unicode.IsPunct); len(word) >= 4 && !plainWord(word) {
			list = append(list, word)
		}
	}
	return list
}

// plainWord reports whether word may stand in a dictionary: at most 15 letters, none but the first a capital.
func plainWord(word string) bool {
	n := 0
	for i, r := range word {
		if !unicode.IsLetter(r) && r != '\'' && r != '’' || i > 0 && unicode.IsUpper(r) {
			return false
		}
		n++
	}
	return n <= 15
}
