// Package answer holds what an agent says in one turn while it says it: the texts of its chunks as they came, escaped
// and unread, until somebody beside the conversation takes them.
//
// Adding costs a copy of at most a few kilobytes, whatever the size of the chunk. Of an answer the beginning is kept
// whole; of what follows, the newest bytes between two takings; what lies between is counted. It knows nothing of
// turns, redacts nothing and writes nothing.
package answer

import (
	"bytes"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

const (
	headSize = 48 << 10 // bytes of an answer, escaped, that are kept from its beginning: what it is about
	tailSize = 48 << 10 // bytes of what follows that are kept between two takings: what it came to
)

// Pieces stand behind one another in a buffer, each ended by one of these, which no JSON string holds.
const (
	pieceEnd  = '\n'
	paragraph = '\x00' // a new paragraph begins here
)

// A Text is the text of one answer. The zero value is an empty one. One goroutine adds while another takes.
type Text struct {
	mu            sync.Mutex // guards what follows
	head          []byte     // of the answer's beginning, not taken yet
	used          int        // bytes of headSize that are used up
	tail          []byte     // what came behind it
	omitted       int        // bytes that were left out in front of tail
	cut           bool       // tail begins within a piece
	paragraphNext bool       // a new paragraph begins with the next words
	open          bool       // a piece is being added

	taken    bool // some text was taken; the taker's, like
	endsLine bool // whether it ends in a line's end
}

// A Part is some of an answer, decoded.
type Part struct {
	Omitted int    // bytes, as they came, that were left out in front of it
	Text    string // perhaps not valid UTF-8, where the agent's was not
}

// Break makes what is added next begin a new paragraph: the agent did something in between.
func (t *Text) Break() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paragraphNext = true
}

// Add adds the text of a whole chunk, as it stands between its quotes. It reports whether there was nothing to take
// before.
func (t *Text) Add(raw []byte) (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = t.emptyLocked()
	t.writeLocked(raw)
	t.endLocked()
	return first
}

// Write adds a piece of the text of a chunk that comes in several. End ends it.
func (t *Text) Write(piece []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writeLocked(piece)
}

// End ends a chunk whose text came in pieces, the last of them with suffix behind the text. Where something else stands
// there the text ends at the quote that closes it. suffix is shorter than 4 KB.
func (t *Text) End(suffix []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	inTail := min(len(suffix), len(t.tail))
	inHead := len(suffix) - inTail
	if inHead <= len(t.head) {
		head, tail := t.head[len(t.head)-inHead:], t.tail[len(t.tail)-inTail:]
		if string(head) == string(suffix[:inHead]) && string(tail) == string(suffix[inHead:]) {
			t.head, t.used = t.head[:len(t.head)-inHead], t.used-inHead
			t.tail = t.tail[:len(t.tail)-inTail]
		}
	}
	t.endLocked()
}

// Said reports whether anything was ever added.
func (t *Text) Said() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.used > 0
}

// Empty reports whether there is nothing to take.
func (t *Text) Empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.emptyLocked()
}

func (t *Text) emptyLocked() bool { return t.open || len(t.head) == 0 && len(t.tail) == 0 }

func (t *Text) writeLocked(raw []byte) {
	if t.paragraphNext && len(raw) > 0 {
		t.paragraphNext = false
		t.appendLocked([]byte{paragraph})
	}
	t.open = true
	t.appendLocked(raw)
}

func (t *Text) endLocked() {
	if t.open {
		t.open = false
		t.appendLocked([]byte{pieceEnd})
	}
}

func (t *Text) appendLocked(raw []byte) {
	if n := min(headSize-t.used, len(raw)); n > 0 {
		t.head = append(t.head, raw[:n]...)
		t.used += n
		raw = raw[n:]
	}
	if len(raw) == 0 {
		return
	}
	if over := len(raw) - tailSize; over > 0 {
		t.dropLocked(len(t.tail))
		t.omitted += over
		t.cut = true
		raw = raw[over:]
	} else if n := len(t.tail) + len(raw) - tailSize; n > tailSize { // moved seldom, half of it at a time
		t.dropLocked(n)
	}
	if t.tail == nil {
		t.tail = make([]byte, 0, 2*tailSize)
	}
	t.tail = append(t.tail, raw...)
}

// dropLocked leaves out the first n bytes of the tail.
func (t *Text) dropLocked(n int) {
	if n == 0 {
		return
	}
	t.cut = t.tail[n-1] != pieceEnd
	t.omitted += n
	t.tail = append(t.tail[:0], t.tail[n:]...)
}

// Take gives what was added since the last taking, decoded, and forgets it: one part, or two with something left out
// between them. Of a chunk that is still being added nothing is given, nor of what came before it: it takes a moment.
func (t *Text) Take() []Part {
	t.mu.Lock()
	if t.emptyLocked() {
		t.mu.Unlock()
		return nil
	}
	head, tail, left, cut := t.head, t.tail, t.omitted, t.cut
	t.head, t.tail, t.omitted, t.cut = nil, nil, 0, false
	t.mu.Unlock()

	if left == 0 {
		return []Part{{Text: t.decode(append(head, tail...), cut)}}
	}
	var parts []Part
	if len(head) > 0 {
		parts = append(parts, Part{Text: t.decode(head, false)})
	}
	return append(parts, Part{Omitted: left, Text: t.decode(tail, cut)})
}

// decode gives the text of pieces. cut says that the first one lacks its beginning.
func (t *Text) decode(pieces []byte, cut bool) string {
	var text []byte
	for len(pieces) > 0 {
		piece, rest, _ := bytes.Cut(pieces, []byte{pieceEnd})
		pieces = rest
		if cut {
			piece, cut = frame.Resume(piece), false
		}
		if words, ok := bytes.CutPrefix(piece, []byte{paragraph}); ok {
			piece = words
			if t.taken && !t.endsLine {
				text = append(text, "\n\n"...)
			}
		}
		text = frame.AppendDecoded(text, piece)
		if n := len(text); n > 0 {
			t.taken, t.endsLine = true, text[n-1] == '\n'
		}
	}
	return string(text)
}
