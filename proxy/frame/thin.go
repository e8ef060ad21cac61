package frame

import "bytes"

// A Thinner copies a frame that arrives in pieces and leaves out what the strings under some keys hold, so that an image
// in front does not take the room of the words behind it. What it keeps of a valid frame is one, up to Limit.
type Thinner struct {
	Without []string // keys, as they are spelled
	Limit   int      // bytes that are kept

	kept     []byte
	state    thinState
	escaped  bool // behind a backslash in a string
	keyStart int  // where in kept the last string begins
	keyEnd   int  // behind its closing quote; 0: something other than white space and a colon has followed
	colon    bool // it has
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
	if t.colon && t.keyEnd > 0 && t.leftOut(t.kept[t.keyStart:t.keyEnd]) {
		t.state = thinLeftOut
	}
	t.keyStart, t.keyEnd, t.colon = len(t.kept)-1, 0, false
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
			t.keep(piece[:n])
		}
		t.keep(piece[n : n+1])
		if t.state != thinComplete {
			t.state, t.keyEnd = thinOutside, len(t.kept)
		}
		return n + 1
	}
	if t.state == thinString {
		t.keep(piece[:n])
	}
	return n
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
		b = b[:room]
		t.state = thinComplete
	}
	t.kept = append(t.kept, b...)
}

// Bytes gives what was kept. It is the caller's once nothing more is written.
func (t *Thinner) Bytes() []byte { return t.kept }
