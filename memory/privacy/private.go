package privacy

import (
	"strings"
	"unicode/utf8"
)

// WithoutPrivate takes <private>…</private> out of text, in any case and spacing, also nested; one that is not closed
// reaches to the text's end. private are the passages, trimmed, for Clean to find what an agent repeats of them.
func WithoutPrivate(text string) (kept string, private []string) {
	var p Passages
	return p.Add(text, true), p.Found
}

// Passages take <private>…</private> out of text that arrives in pieces, as WithoutPrivate does. It is not safe for
// concurrent use.
type Passages struct {
	Found []string // those that are closed, and at the end the open one

	depth   int
	passage []byte // the open one
	part    string // the end of what came, which may be the beginning of a tag
	gap     bool   // text before was lost, in which a passage may have begun that ends in what comes
}

// Plain reports whether the next piece of text may be taken as it is: no tag begins in it, and none has before.
func (p *Passages) Plain(text []byte) bool { return p.Outside() && noTag(text) == len(text) }

// Outside reports whether the text so far ends neither inside a passage nor in what may be the beginning of a tag.
func (p *Passages) Outside() bool { return p.depth == 0 && p.part == "" && !p.gap }

// maxPassage is how many bytes of a private passage are kept, to conceal what repeats it. The whole of it is taken out.
const maxPassage = 64 << 10

// maxGap is how many bytes after a gap are held back to see whether a passage ends in them.
const maxGap = 4 << 10

// Add takes the next piece of text and returns what is not private and was not returned before. What may be the
// beginning of a tag waits for the next piece; at the end nothing is held back.
func (p *Passages) Add(text string, end bool) string {
	text, p.part = p.part+text, ""
	start, stop, closing := nextTag(text, end)
	if p.gap {
		known := start < min(stop, maxGap)
		if !known && !end && len(text) < maxGap { // it cannot be told whether a passage ends here
			p.part = text
			return ""
		}
		if p.gap = false; known && closing {
			text = text[stop:]
			start, stop, closing = nextTag(text, end)
		}
	}
	if start == stop && p.depth == 0 {
		p.part = strings.Clone(text[start:])
		return text[:start]
	}
	var kept strings.Builder
	take := func(text string) {
		if p.depth == 0 {
			kept.WriteString(text)
		} else {
			p.passage = append(p.passage, text[:min(len(text), max(0, maxPassage-len(p.passage)))]...)
		}
	}
	for ; start < stop; start, stop, closing = nextTag(text, end) {
		depth, taken := p.depth+1, stop
		if closing {
			depth = max(p.depth-1, 0)
		}
		if p.depth+depth == 1 { // the outermost tags go; those inside, and a closing one of no passage, are text
			taken = start
		}
		take(text[:taken])
		if p.depth = depth; depth == 0 {
			p.close()
		}
		text = text[stop:]
	}
	take(text[:start])
	p.part = strings.Clone(text[start:])
	if end {
		p.close()
	}
	return kept.String()
}

// close ends the open passage, if there is one.
func (p *Passages) close() {
	if passage := strings.TrimSpace(string(p.passage)); passage != "" {
		p.Found = append(p.Found, passage)
	}
	p.passage, p.depth = nil, 0
}

// nextTag returns where the first private tag stands in text. Where there is none, both are its length or, unless it is
// the end, where one may begin that more text will show.
func nextTag(text string, end bool) (start, stop int, closing bool) {
	for {
		if start += noTag(text[start:]); start == len(text) {
			return start, start, false
		}
		size, closing, ok := privateTag(text[start:])
		switch {
		case ok:
			return start, start + size, closing
		case !end && unfinishedTag(text[start:]):
			return start, start, false
		}
		start += size
	}
}

// noTag is how many bytes text has in front of what may begin a private tag: a bracket or an entity, whose first byte
// is no other character's second one. What shows at once that it begins another tag, or nothing, is passed over.
func noTag[T string | []byte](text T) int {
	for i := range len(text) {
		c := text[i]
		if c != '<' && c != '&' && c < 0xcb {
			continue
		}
		switch {
		case c == 0xcb, c == 0xe2, c == 0xe3, c == 0xef, c < 0x80 && i+1 == len(text),
			c == '<' && (!isLetter(text[i+1]) || text[i+1]|0x20 == 'p'),
			c == '&' && (isLetter(text[i+1]) || text[i+1] == '#'):
			return i
		}
	}
	return len(text)
}

// maxTag is how many bytes a tag may have: one that is not closed by then is a text about tags.
const maxTag = 1 << 10

// privateTag reads a whole tag, attributes included, at the start of s. Where there is none, size is how many bytes to
// step over.
func privateTag(s string) (size int, closing, ok bool) {
	s = s[:min(len(s), maxTag)]
	if size, ok = bracket(s); !ok {
		return size, false, false
	}
	name, closing := tagName(s[size:])
	if rest, ok := readMark(name, privateMark); ok {
		if n := tagEnd(rest); n > 0 {
			return len(s) - len(rest) + n, closing, true
		}
	}
	return size, false, false // "<private" and no ">": not a tag
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
	if len(s) >= maxTag {
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
	for _, want := range privateMark {
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
