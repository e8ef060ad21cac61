package privacy

import (
	"strings"
	"unicode/utf8"
)

// WithoutPrivate takes <private>…</private> out of text, in any case and spacing, also nested; one that is not closed
// reaches to the text's end. private are the passages, trimmed, for Clean to find what an agent repeats of them.
func WithoutPrivate(text string) (kept string, private []string) {
	var p Passages
	return p.Add(text, true), p.found
}

// Passages take <private>…</private> out of text that arrives in pieces, as WithoutPrivate does. It is not safe for
// concurrent use.
type Passages struct {
	found []string // those that are closed, and at the end the open one

	depth   int
	passage []byte // the open one
	part    string // the end of what came, which may be the beginning of a tag
	gap     bool   // text before was lost, in which a passage may have begun that ends in what comes
}

// Plain reports whether the next piece of text may be taken as it is: no tag begins in it, and none has before.
func (p *Passages) Plain(text []byte) bool { return p.Outside() && noTag(text) == len(text) }

// Outside reports whether the text so far ends neither inside a passage nor in what may be the beginning of a tag.
func (p *Passages) Outside() bool { return p.depth == 0 && p.part == "" && !p.gap }

// Found returns the passages that are closed, and after the end also one that is not.
func (p *Passages) Found() []string { return p.found }

// maxPassage is how many bytes of a private passage are kept, to conceal what repeats it. The whole of it is taken out.
const maxPassage = 64 << 10

// maxGap is how many bytes after a gap are held back to see whether a passage ends in them.
const maxGap = 4 << 10

// Add takes the next piece of text and returns what is not private and was not returned before. What may be the
// beginning of a tag waits for the next piece; at the end nothing is held back.
func (p *Passages) Add(text string, end bool) string {
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
			p.passage = append(p.passage, text[done:min(to, done+max(0, maxPassage-len(p.passage)))]...)
		}
	}
	for i := 0; ; {
		if i += noTag(text[i:]); i == len(text) {
			break
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

// behindGap takes off text, up to its end, a passage that began in the gap before it. known is false, and text is held
// back, while it cannot be told whether there is one.
func (p *Passages) behindGap(text string, end bool) (rest string, known bool) {
	for i := 0; i < min(len(text), maxGap); {
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
	if !end && len(text) < maxGap {
		p.part = text
		return "", false
	}
	p.gap = false
	return text, true
}

func (p *Passages) close() {
	if passage := strings.TrimSpace(string(p.passage)); passage != "" {
		p.found = append(p.found, passage)
	}
	p.passage, p.depth = nil, 0
}

// noTag is how many bytes text has in front of what may begin a private tag.
func noTag[T string | []byte](text T) int {
	i := 0
	for i < len(text) {
		switch c := text[i]; {
		case c < utf8.RuneSelf && c != '<' && c != '&':
			i++
		case c == '<' && otherTag(text[i+1:]):
			i += 2
		case c == '&' && noEntity(text[i+1:]):
			i++
		default:
			n := letterSize(text[i:])
			if n == 0 {
				return i
			}
			i += n
		}
	}
	return i
}

// noEntity reports whether what follows an ampersand shows that it begins no entity.
func noEntity[T string | []byte](s T) bool { return len(s) > 0 && s[0] != '#' && !isLetter(s[0]) }

// letterSize is how many bytes the letter has that s begins with, if its first byte shows that it is no bracket: one
// before U+02C0, or one of the ideographs of Chinese and Japanese. It is 0 for all others.
func letterSize[T string | []byte](s T) int {
	size := 0
	switch c := s[0]; {
	case 0xc2 <= c && c < 0xcb:
		size = 2
	case 0xe4 <= c && c <= 0xe9:
		size = 3
	}
	if size > len(s) {
		return 0
	}
	for i := 1; i < size; i++ {
		if utf8.RuneStart(s[i]) { // not UTF-8
			return 0
		}
	}
	return size
}

type tag struct {
	size    int // in bytes; where there is no tag, how many to step over
	closing bool
}

// maxTag is how many bytes a tag may have: one that is not closed by then is a text about tags.
const maxTag = 1 << 10

// privateTag reads a whole tag, attributes included, at the start of s.
func privateTag(s string) (tag, bool) {
	if n := noTag(s[:min(len(s), utf8.UTFMax)]); n > 0 {
		return tag{size: n}, false
	}
	s = s[:min(len(s), maxTag)]
	size, ok := bracket(s)
	if !ok {
		return tag{size: size}, false
	}
	name, closing := tagName(s[size:])
	rest, ok := privateMark.read(name)
	if !ok {
		return tag{size: size}, false
	}
	if n := tagEnd(rest); n > 0 {
		return tag{len(s) - len(rest) + n, closing}, true
	}
	return tag{size: size}, false // "<private" and no ">": not a tag
}

// otherTag reports whether what follows a bracket begins a name with another letter, perhaps of a closing tag.
func otherTag[T string | []byte](s T) bool {
	if len(s) > 0 && s[0] == '/' {
		s = s[1:]
	}
	return len(s) > 0 && isLetter(s[0]) && s[0]|0x20 != 'p'
}

// tagEnd returns the end of the tag whose attributes s begins with, behind its closing bracket: 0 where another tag
// begins before that, -1 where s ends before that.
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

// unfinishedTag reports whether s, which does not begin with a whole tag, may do so once more text has come.
func unfinishedTag(s string) bool {
	if len(s) >= maxTag || s[0] != '<' && s[0] != '&' && s[0] < utf8.RuneSelf {
		return false
	}
	if unfinishedGlyph(s) {
		return true
	}
	size, ok := bracket(s)
	if !ok {
		return false
	}
	s, _ = tagName(s[size:])
	for _, want := range privateMark.name {
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

// unfinishedGlyph reports whether s ends before or inside its first visible character.
func unfinishedGlyph(s string) bool {
	for s != "" {
		if !utf8.FullRuneInString(s) {
			return true
		}
		if s[0] == '&' && len(s) < maxEntity && strings.TrimLeftFunc(s[1:], inEntity) == "" {
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

// maxEntity is longer, in bytes, than any entity that anybody writes, also with its ampersand escaped a few times.
const maxEntity = 64

func inEntity(r rune) bool { return r == '#' || r == ';' || r < utf8.RuneSelf && class(byte(r)) != 0 }
