package privacy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// WithoutPrivate takes <private>…</private> out of text, in any case and spacing, nested, and to the end where it is
// not closed. private are the passages, trimmed; what an agent repeats of them Conceal finds.
func WithoutPrivate(text string) (kept string, private []string) {
	var p passages
	return p.add(text, true), p.found
}

// Passages take <private>…</private> out of text that arrives in pieces, as WithoutPrivate does. It is not safe for
// concurrent use.
type Passages struct{ passages }

// Add gives what is left of the text so far and was not given before. After the end nothing is held back.
func (p *Passages) Add(text string, end bool) string { return p.add(text, end) }

// Outside reports whether the text so far ends neither in a passage nor in what may begin one.
func (p *Passages) Outside() bool { return p.depth == 0 && p.part == "" && !p.gap }

// Found gives the passages: those that are closed, and at the end the open one.
func (p *Passages) Found() []string { return p.found }

// mostPassage is how many bytes of a private passage are kept for Conceal. It is private to its end, however long.
const mostPassage = 64 << 10

// Passages take <private>…</private> out of text that arrives in pieces.
type passages struct {
	found []string // those that are closed, and at the end the open one

	depth   int
	passage []byte // the open one
	part    string // may be the beginning of a tag
	gap     bool   // nobody knows what stood before: it may have opened a passage that ends in what comes
}

// mostGap is how much text behind a gap is held back, in bytes, to see whether it ends a passage.
const mostGap = 4 << 10

// add gives what is left of the text so far and was not given before. After the end nothing is held back.
func (p *passages) add(text string, end bool) string {
	text, p.part = p.part+text, ""
	if p.gap {
		var known bool
		if text, known = p.behindGap(text, end); !known {
			return ""
		}
	}
	var kept strings.Builder
	done, changed := 0, p.depth > 0
	take := func(to int) {
		if p.depth == 0 {
			kept.WriteString(text[done:to])
		} else {
			p.passage = append(p.passage, text[done:min(to, done+max(0, mostPassage-len(p.passage)))]...)
		}
	}
	i := 0
	for i < len(text) {
		if untagged[text[i]] || text[i] == '<' && otherTag(text[i+1:]) {
			i++
			continue
		}
		t, ok := privateTag(text[i:])
		switch {
		case !ok && !end && unfinishedTag(text[i:]):
			p.part = strings.Clone(text[i:])
			text = text[:i]
			continue
		case !ok:
		case !t.closing:
			if p.depth == 0 {
				take(i)
				done, changed = i+t.size, true
			}
			p.depth++
		case p.depth == 1:
			take(i)
			done = i + t.size
			p.close()
		case p.depth > 1:
			p.depth--
		}
		i += t.size
	}
	if !changed {
		return text
	}
	take(len(text))
	if end && p.depth > 0 {
		p.close()
	}
	return kept.String()
}

// behindGap takes off what ends a passage that began in the gap before text. known is false, and text is kept, while
// that cannot be told.
func (p *passages) behindGap(text string, end bool) (rest string, known bool) {
	for i := 0; i < min(len(text), mostGap); {
		t, ok := privateTag(text[i:])
		if !ok && !end && unfinishedTag(text[i:]) {
			break
		}
		if i += t.size; ok {
			p.gap = false
			if t.closing {
				text = text[i:]
			}
			return text, true
		}
	}
	if !end && len(text) < mostGap {
		p.part = text
		return "", false
	}
	p.gap = false
	return text, true
}

func (p *passages) close() {
	if passage := strings.TrimSpace(string(p.passage)); passage != "" {
		p.found = append(p.found, passage)
	}
	p.passage, p.depth = nil, 0
}

// untagged are the bytes that begin no tag: all of ASCII but for the bracket, which may be spelled as an entity.
var untagged = func() (p [256]bool) {
	for c := range utf8.RuneSelf {
		p[c] = c != '<' && c != '&'
	}
	return p
}()

type tag struct {
	size    int // what to step over, where there is no tag
	closing bool
}

// mostTag is how many bytes a tag may have: one that is not closed by then is prose about tags.
const mostTag = 1 << 10

// privateTag reads a whole tag, attributes included, at the start of s.
func privateTag(s string) (tag, bool) {
	switch c := s[0]; {
	case untagged[c]:
		return tag{size: 1}, false
	case c == '&' && len(s) > 1 && s[1] != '#' && !isLetter(s[1]): // no entity
		return tag{size: 1}, false
	case utf8.RuneSelf <= c && c < 0xcb && len(s) > 1: // two bytes of a letter before U+02C0: no bracket
		return tag{size: 2}, false
	}
	s = s[:min(len(s), mostTag)]
	size, ok := bracket(s)
	if !ok || !mayBePrivate(s[size:]) { // most tags are of another name
		return tag{size: size}, false
	}
	name, rest, closing := mark(s[size:])
	if name != "private" {
		return tag{size: size}, false
	}
	if n := tagEnd(rest); n > 0 {
		return tag{len(s) - len(rest) + n, closing}, true
	}
	return tag{size: size}, false // "<private" and no ">": not a tag
}

// otherTag reports whether what follows a bracket begins a name with another letter, perhaps of a closing tag.
func otherTag(s string) bool {
	if s != "" && s[0] == '/' {
		s = s[1:]
	}
	return s != "" && isLetter(s[0]) && s[0]|0x20 != 'p'
}

// mayBePrivate reports whether what follows a bracket begins like the name, perhaps of a closing tag.
func mayBePrivate(s string) bool {
	if name := strings.TrimPrefix(s, "/"); name != "" && isLetter(name[0]) {
		paragraph := len(name) > 1 && name[1] == '>' // the most frequent of all
		return name[0]|0x20 == 'p' && !paragraph
	}
	s = s[skip(s, unicode.IsSpace):]
	r, size := glyph(s)
	if slash(r) {
		s = s[size:]
		r, _ = glyph(s[skip(s, unicode.IsSpace):])
	}
	return sameLetter(r, 'p')
}

// tagEnd gives where the tag ends whose attributes s begins with: behind its bracket, 0 where another begins before, -1
// where s ends before.
func tagEnd(s string) int {
	for n := 0; n < len(s); {
		r, size := decode(s[n:])
		if n += size; r == '>' {
			return n
		}
		if r == '<' {
			return 0
		}
	}
	return -1
}

// unfinishedTag reports whether s, which begins with no whole tag, may do so once more of it has come.
func unfinishedTag(s string) bool {
	if len(s) >= mostTag || s[0] != '<' && s[0] != '&' && s[0] < utf8.RuneSelf {
		return false
	}
	if unfinishedGlyph(s) {
		return true
	}
	size, ok := bracket(s)
	if !ok {
		return false
	}
	s = s[size:]
	s = s[skip(s, unicode.IsSpace):]
	if r, size := glyph(s); slash(r) {
		s = s[size:]
		s = s[skip(s, unicode.IsSpace):]
	}
	for _, want := range "private" {
		if unfinishedGlyph(s) {
			return true
		}
		r, size := glyph(s)
		if !sameLetter(r, want) {
			return false
		}
		s = s[size:]
	}
	return tagEnd(s) < 0
}

// unfinishedGlyph reports whether s ends within its first character that can be seen.
func unfinishedGlyph(s string) bool {
	for s != "" {
		if !utf8.FullRuneInString(s) {
			return true
		}
		if s[0] == '&' && len(s) < mostEntity && strings.TrimLeftFunc(s[1:], inEntity) == "" {
			return true
		}
		r, size := decode(s)
		if !unseen(r) {
			return false
		}
		s = s[size:]
	}
	return true
}

// mostEntity is longer than any entity that anybody writes, its ampersand escaped a few times.
const mostEntity = 64

func inEntity(r rune) bool { return r == '#' || r == ';' || r < utf8.RuneSelf && class(byte(r)) != 0 }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
