package privacy

import "strings"

const (
	// nearEnd is how many bytes at the end of an unfinished line are held back: they may be half a secret.
	nearEnd = 256
	// minBefore is how many bytes before a text are kept, white space not counted, because they decide what it is.
	minBefore = 512
	// maxBefore is how many with white space.
	maxBefore = 8 << 10
)

// A redactor takes secrets out of text that arrives in pieces. Text is given once it can be judged: up to a line's end
// or, in a long line, to a space far from its end, and no further than where a possible secret begins whose end has not
// come.
type redactor struct {
	before   string // the end of what was given, as it came: "password:" says what the next word is
	held     string // what was not given yet
	closes   string // where held begins with an unfinished span: it is judged again when this text comes,
	again    int    // or when so many bytes are held
	skipping string // the kind of what is left out of the text to come: longWord or privateKey
}

const (
	longWord   = "unbroken"    // a word up to the next white space
	privateKey = "private-key" // the lines of a PEM block, and its end
)

// add takes the next piece of text and returns what can be judged by now and was not given before. At the end it holds
// nothing back.
func (r *redactor) add(text string, end bool) string {
	fresh := len(r.held)
	r.held += text
	if r.dropSkipped(); r.skipping != "" {
		return ""
	}
	if end {
		return r.give(len(r.held), false)
	}
	if r.closes != "" && len(r.held) < r.again {
		seen := max(0, min(fresh, len(r.held))-len(r.closes))
		if !strings.Contains(r.held[seen:], r.closes) {
			return ""
		}
	}
	given := r.give(lineEnd(r.held), true)
	if len(r.held) <= maxOpen {
		return given
	}
	kind := longWord
	if at := pemBegin().FindStringIndex(r.held[:nearEnd]); at != nil {
		kind, r.held = privateKey, r.held[at[1]:]
	}
	r.skipping, r.before, r.closes = kind, "", ""
	r.dropSkipped()
	return given + "[redacted:" + kind + "]"
}

// cut takes the last text before a gap. It returns what can be judged, drops the rest, and leaves out the rest of the
// word that the gap may end in.
func (r *redactor) cut(text string) string {
	given := r.add(text, false)
	given += r.give(strings.LastIndexAny(r.held, space)+1, true)
	*r = redactor{skipping: longWord}
	return given
}

// lineEnd is where text may be cut: behind its last line end or, in a long unfinished line, behind a space at least
// nearEnd before its end.
func lineEnd(text string) int {
	n := strings.LastIndexByte(text, '\n') + 1
	if far := len(text) - nearEnd; far > n {
		n += strings.LastIndexAny(text[n:far], " \t") + 1
	}
	return n
}

// give returns the first n bytes held, redacted, as far as they can be judged.
func (r *redactor) give(n int, growing bool) string {
	r.closes = ""
	if n == 0 {
		return ""
	}
	text, from := r.before+r.held[:n], len(r.before)
	f := find(text, growing)
	to := max(from, f.open)
	if to < len(text) {
		for to > from && strings.IndexByte(space, text[to-1]) < 0 {
			to--
		}
		for i := len(f.spans) - 1; i >= 0; i-- {
			if s := f.spans[i]; s.start < to && s.end > to {
				to = max(from, s.start)
			}
		}
		if to == from {
			r.closes, r.again = f.closes, 2*len(r.held)
		}
	}
	r.held = strings.Clone(r.held[to-from:])
	r.before = lastWords(text[:to])
	return f.replace(text, from, to)
}

// lastWords returns the end of text, as much as can decide what the text behind it is.
func lastWords(text string) string {
	i, n := len(text), 0
	for i > 0 && len(text)-i < maxBefore {
		if strings.IndexByte(space, text[i-1]) < 0 {
			n++
		} else if n >= minBefore {
			break
		}
		i--
	}
	text = text[i:]
	if n := strings.LastIndex(text, pemOpen); n > strings.LastIndex(text, pemClose) {
		text = text[n+len(pemOpen):] // this block was judged: an end that comes now is not its end
	}
	return strings.Clone(text)
}

// dropSkipped takes off held what is left out.
func (r *redactor) dropSkipped() {
	switch r.skipping {
	case longWord:
		if n := strings.IndexAny(r.held, space); n >= 0 {
			r.held, r.skipping = r.held[n:], ""
		} else {
			r.held = ""
		}
	case privateKey:
		n := len(r.held) - len(strings.TrimLeftFunc(r.held, inBlock))
		if n == len(r.held) {
			r.held = ""
			return
		}
		rest := r.held[n:]
		switch at := pemEnd().FindStringIndex(rest); {
		case at != nil:
			rest = rest[at[1]:]
		case len(rest) < len(pemClose)+60 && (strings.HasPrefix(rest, pemClose) || strings.HasPrefix(pemClose, rest)):
			r.held = rest // the rest of the line "-----END …" has not come
			return
		}
		r.held, r.skipping = rest, ""
	}
}

// inBlock reports whether r may stand in the body of a PEM block.
func inBlock(r rune) bool {
	return r < 0x80 && class(byte(r)) != 0 || strings.ContainsRune("+/=\\"+space, r)
}
