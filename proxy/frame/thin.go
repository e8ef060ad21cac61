package frame

import (
	"bytes"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

// A Thinner copies a frame that arrives in pieces, and leaves out the data of images, audio and embedded files, so that
// they do not take the room of the text behind them. No string takes more than half of the room that is left: of a
// longer one the beginning and the end are kept, with Seam between. Of a valid frame it keeps a valid frame, if that
// has no more than Limit bytes.
type Thinner struct {
	Limit    int    // bytes that are kept at most
	Kept     []byte // what was kept: the caller's, if nothing more is written
	state    thinState
	escaped  bool          // after a backslash in a string
	keyStart int           // index in Kept of the last string's opening quote
	keyEnd   int           // index after its closing quote; 0: it is no key, for no colon has followed
	colon    bool          // a colon has followed it
	text     chars.Excerpt // of the current string; with no room for one the string is kept whole, up to Limit
}

// Seam replaces what was cut out of a string.
const Seam = " […] "

type thinState uint8

const (
	thinOutside  thinState = iota
	thinString             // in a string that is kept
	thinLeftOut            // in one that is not
	thinComplete           // Limit is reached: nothing more is kept
)

// Write takes the next piece of the frame. It does not keep piece.
func (t *Thinner) Write(piece []byte) {
	for len(piece) > 0 && t.state != thinComplete {
		n := 1
		switch t.state {
		case thinOutside:
			n = t.outsideString(piece)
		case thinString, thinLeftOut:
			n = t.inString(piece)
		}
		piece = piece[n:]
	}
}

// outsideString takes the beginning of a piece outside of strings, up to and with a quote that opens one.
func (t *Thinner) outsideString(piece []byte) (n int) {
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
	if t.colon && t.keyEnd > 0 {
		switch string(t.Kept[t.keyStart:t.keyEnd]) {
		case `"data"`, `"blob"`:
			t.state = thinLeftOut
		}
	}
	t.keyStart, t.keyEnd, t.colon = len(t.Kept)-1, 0, false
	t.text = chars.Excerpt{Head: t.text.Head[:0], Tail: t.text.Tail[:0]}
	if room := (t.Limit - len(t.Kept)) / 2; room >= minRoom {
		t.text.MaxHead, t.text.MaxTail = room-room/4, room/4
	}
	return n + 1
}

// inString takes the beginning of a piece inside of a string, up to and with the quote that closes it.
func (t *Thinner) inString(piece []byte) (n int) {
	quote := -1 // index of the next one at or after n
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
			t.takeString(piece[:n])
			t.joinEnds()
		}
		t.keep(piece[n : n+1])
		if t.state != thinComplete {
			t.state, t.keyEnd = thinOutside, len(t.Kept)
		}
		return n + 1
	}
	if t.state == thinString {
		t.takeString(piece[:n])
	}
	return n
}

const minRoom = 512 // bytes

// takeString takes the next bytes of a string that is kept.
func (t *Thinner) takeString(b []byte) {
	if t.text.MaxHead == 0 {
		t.keep(b)
		return
	}
	t.text.Add(b)
}

// joinEnds keeps a string that has ended: its beginning and its end, with Seam between if something was left out.
func (t *Thinner) joinEnds() {
	head, tail := t.text.Head, t.text.Tail
	if t.text.Omitted > 0 {
		head, tail = append(cutEnd(head), Seam...), SkipCut(tail)
	}
	t.keep(head)
	t.keep(tail)
}

func (t *Thinner) keep(b []byte) {
	if room := max(0, t.Limit-len(t.Kept)); len(b) > room {
		b = b[:room]
		t.state = thinComplete
	}
	t.Kept = append(t.Kept, b...)
}
