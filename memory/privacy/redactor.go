package privacy

import "strings"

const (
	nearEnd     = 256 // bytes of an unfinished line that are held back: what stands there may be half a secret
	leastBefore = 512 // bytes, white space not counted, that tell what the text behind them is
	mostBefore  = 8 << 10
)

// A redactor takes secrets out of text that arrives in pieces. Text is given once it can be judged: up to a line's end,
// or between words far from the end, and not from where a span is open.
type redactor struct {
	before  string // the end of what was given, as it came: "password:" says what the next word is
	held    string
	closes  string // what the open span that held begins with waits for; looked at again when this comes or
	again   int    // when so much is held
	leaving leaving
}

// leaving says what is left out now.
type leaving uint8

const (
	nothing  leaving = iota
	theWord          // to the next white space
	theBlock         // lines of a PEM block
)

// add gives what can be judged of the text so far and was not given before. After the end nothing is held back.
func (r *redactor) add(text string, end bool) string {
	fresh := len(r.held)
	r.held += text
	if r.leave(); r.leaving != nothing {
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
	if len(r.held) <= mostOpen {
		return given
	}
	r.leaving = theWord
	kind := "unbroken"
	if at := pemBegin().FindStringIndex(r.held[:nearEnd]); at != nil {
		r.leaving, kind = theBlock, "private-key"
		r.held = r.held[at[1]:]
	}
	r.before, r.closes = "", ""
	r.leave()
	return given + "[redacted:" + kind + "]"
}

// cut gives what can be judged of the text so far where it is cut off, and drops the rest of it.
func (r *redactor) cut(text string) string {
	given := r.add(text, false)
	given += r.give(strings.LastIndexAny(r.held, space)+1, true)
	*r = redactor{leaving: theWord}
	return given
}

// lineEnd is where text may be cut: behind its last line end, or of a long unfinished line behind a space far from the
// end.
func lineEnd(text string) int {
	n := strings.LastIndexByte(text, '\n') + 1
	if far := len(text) - nearEnd; far > n {
		n += strings.LastIndexAny(text[n:far], " \t") + 1
	}
	return n
}

// give judges the first n bytes held, as far as that is possible.
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

// lastWords gives what of text tells what may follow it.
func lastWords(text string) string {
	i, n := len(text), 0
	for i > 0 && len(text)-i < mostBefore {
		if strings.IndexByte(space, text[i-1]) < 0 {
			n++
		} else if n >= leastBefore {
			break
		}
		i--
	}
	text = text[i:]
	if n := strings.LastIndex(text, pemOpen); n > strings.LastIndex(text, pemClose) {
		text = text[n+len(pemOpen):] // it was judged: no end that comes now is its
	}
	return strings.Clone(text)
}

// leave takes off what is left out.
func (r *redactor) leave() {
	switch r.leaving {
	case theWord:
		if n := strings.IndexAny(r.held, space); n >= 0 {
			r.held, r.leaving = r.held[n:], nothing
		} else {
			r.held = ""
		}
	case theBlock:
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
			r.held = rest // the end of the end is missing
			return
		}
		r.held, r.leaving = rest, nothing
	}
}

// inBlock reports whether r may stand in the body of a PEM block.
func inBlock(r rune) bool {
	return r < 0x80 && class(byte(r)) != 0 || strings.ContainsRune("+/=\\"+space, r)
}
