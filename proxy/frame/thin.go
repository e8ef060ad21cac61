package frame

import (
	"bytes"
)

// A Thinner copies a frame that arrives in pieces and leaves out what the strings under some keys hold, so that an
// image in front does not take the room of the words behind it. What it keeps of a valid frame is one, up to Limit.
type Thinner struct {
	Without []string // keys, as they are spelled
	// what strings, keys too, in more containers than this hold is left out as well; 0: nothing more is
	Depth int
	// no string takes more than half of what is left of Limit: of a longer one the beginning and the end are kept,
	// with Seam between
	Halve bool
	Limit int // bytes that are kept

	kept     []byte
	state    thinState
	escaped  bool // behind a backslash in a string
	keyStart int  // where in kept the last string begins
	keyEnd   int  // behind its closing quote; 0: something other than white space and a colon has followed
	colon    bool // it has
	depth    int  // containers that are open
	part     part // of a string that may be too long
	lost     int
}

// Seam stands in the place of what was cut out of a string.
const Seam = " […] "

// NewThinner leaves out what images, audio and embedded files hold, and the middle of long texts: what stands behind
// them counts too.
func NewThinner(limit int) *Thinner {
	return &Thinner{Without: []string{"data", "blob"}, Halve: true, Limit: limit}
}

// Thin gives a frame as it is if it is no longer than limit, else a copy without what NewThinner leaves out, cut there.
func Thin(line []byte, limit int) []byte {
	if len(line) <= limit {
		return line
	}
	t := NewThinner(limit)
	t.Write(line)
	return t.Bytes()
}

type thinState uint8

const (
	thinOutside  thinState = iota
	thinString             // in a string that is kept
	thinLeftOut            // in one that is not
	thinComplete           // Limit is reached
)

// Write takes the next piece.
func (t *Thinner) Write(piece []byte) {
	for len(piece) > 0 && t.state != thinComplete {
		n := 1
		switch t.state {
		case thinOutside:
			n = t.outside(piece)
		case thinString, thinLeftOut:
			n = t.inside(piece)
		}
		piece = piece[n:]
	}
}

// outside takes the beginning of a piece that is in no string, to the quote that opens one.
func (t *Thinner) outside(piece []byte) (n int) {
	n = bytes.IndexByte(piece, '"')
	between := piece
	if n >= 0 {
		between = piece[:n]
	}
	for _, c := range between {
		switch {
		case isSpace(c):
		case c == '{' || c == '[':
			t.depth++
			t.keyEnd = 0
		case c == '}' || c == ']':
			t.depth--
			t.keyEnd = 0
		case c == ':' && t.keyEnd > 0 && !t.colon:
			t.colon = true
		default:
			t.keyEnd = 0
		}
	}
	if n < 0 {
		t.keep(piece)
		return len(piece)
	}
	t.keep(piece[:n+1])
	if t.state == thinComplete {
		return n + 1
	}
	t.state = thinString
	if t.Depth > 0 && t.depth > t.Depth || t.colon && t.keyEnd > 0 && t.leftOut(t.kept[t.keyStart:t.keyEnd]) {
		t.state = thinLeftOut
	}
	t.keyStart, t.keyEnd, t.colon = len(t.kept)-1, 0, false
	t.part = part{tail: t.part.tail[:0]}
	if t.Halve {
		t.part.room = (t.Limit - len(t.kept)) / 2
	}
	return n + 1
}

// inside takes the beginning of a piece that is in a string, to the quote that closes it.
func (t *Thinner) inside(piece []byte) (n int) {
	quote := -1 // the next one at or behind n
	for n < len(piece) {
		if t.escaped {
			t.escaped = false
			n++
			continue
		}
		if quote < n {
			if quote = bytes.IndexByte(piece[n:], '"'); quote < 0 {
				quote = len(piece)
			} else {
				quote += n
			}
		}
		if escape := bytes.IndexByte(piece[n:quote], '\\'); escape >= 0 {
			n += escape + 1
			t.escaped = true
			continue
		}
		if n = quote; n == len(piece) {
			break
		}
		if t.state == thinString {
			t.take(piece[:n])
			t.join()
		}
		t.keep(piece[n : n+1])
		if t.state != thinComplete {
			t.state, t.keyEnd = thinOutside, len(t.kept)
		}
		return n + 1
	}
	if t.state == thinString {
		t.take(piece[:n])
	}
	return n
}

// A part is what is kept of a string that may be too long.
type part struct {
	room int    // bytes that it may take
	size int    // bytes that it has
	tail []byte // the last of those that follow the first
}

const leastRoom = 512 // bytes below which a string is not shared out any more

// ends is how much of the end of a string is kept: a quarter.
func (p *part) ends() int { return p.room / 4 }

// take takes a piece of a string that is kept.
func (t *Thinner) take(b []byte) {
	p := &t.part
	if p.room < leastRoom {
		t.keep(b)
		return
	}
	if n := min(p.room-p.ends()-p.size, len(b)); n > 0 {
		t.keep(b[:n])
		p.size += n
		b = b[n:]
	}
	p.size += len(b)
	if len(b) >= p.ends() {
		p.tail, b = p.tail[:0], b[len(b)-p.ends():]
	}
	if p.tail = append(p.tail, b...); len(p.tail) > 2*p.ends() {
		p.tail = append(p.tail[:0], p.tail[len(p.tail)-p.ends():]...)
	}
}

// join puts the end of a string behind its beginning.
func (t *Thinner) join() {
	p, from := &t.part, t.keyStart+1
	if p.size <= p.room {
		t.keep(p.tail)
		return
	}
	t.kept = t.kept[:from+len(cutEnd(t.kept[from:]))]
	tail := cutBeginning(p.tail[max(0, len(p.tail)-p.ends()):])
	t.lost += p.size - (len(t.kept) - from) - len(tail)
	t.keep([]byte(Seam))
	t.keep(tail)
}

func (t *Thinner) leftOut(key []byte) bool {
	for _, name := range t.Without {
		if string(key[1:len(key)-1]) == name {
			return true
		}
	}
	return false
}

func (t *Thinner) keep(b []byte) {
	if room := t.Limit - len(t.kept); len(b) > room {
		room = max(room, 0)
		t.lost += len(b) - room
		b = b[:room]
		t.state = thinComplete
	}
	t.kept = append(t.kept, b...)
}

// Lost is how many bytes of what was to be kept there was no room for, as far as they were read: more than 0 if there
// was not enough.
func (t *Thinner) Lost() int { return t.lost }

// Bytes gives what was kept. It is the caller's once nothing more is written.
func (t *Thinner) Bytes() []byte { return t.kept }
