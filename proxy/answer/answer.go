// Package answer buffers what an agent says in one turn: the texts of its chunks, escaped as they came, until a
// goroutine beside the conversation takes and decodes them.
//
// Adding costs a copy of at most 48 KB, whatever the size of the chunk. The beginning of an answer is kept whole; after
// that the newest bytes since the last Take, and what was dropped between is counted. The package knows nothing of
// turns, redacts nothing and writes nothing.
package answer

import (
	"bytes"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

const (
	headSize = 48 << 10 // bytes of an answer's beginning, escaped, that are always kept: what it is about
	tailSize = 48 << 10 // bytes after it that are kept until they are taken: what it came to
)

// The texts of chunks follow one another in a buffer. These bytes, which no JSON string holds, separate them.
const (
	pieceEnd = '\n'   // ends each text
	toolCall = '\x00' // the agent called a tool here
)

// A Text is the text of one answer. The zero value is empty. One goroutine may add while another takes.
type Text struct {
	mu          sync.Mutex // guards what follows
	head        []byte     // the part of the answer's beginning that was not taken yet
	used        int        // bytes of headSize that are used up
	tail        []byte     // what came after it
	omitted     int        // bytes that were dropped in front of tail
	cut         bool       // tail begins in the middle of a text
	toolsCalled bool       // since the last text
	open        bool       // a text is being added in pieces

	taken     bool // some text was taken; only Take uses it and those below
	endsLine  bool // the text that was taken ends with a line end
	paragraph bool // the next text begins a new paragraph
}

// A Part is a part of an answer, decoded.
type Part struct {
	Omitted int    // escaped bytes that were dropped in front of it
	Text    string // valid UTF-8 if the agent's was; with chars.ToolMark where it called tools
}

// ToolCalled notes that the agent calls a tool behind what it has said so far.
func (t *Text) ToolCalled() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used > 0 && !t.toolsCalled {
		t.toolsCalled = true
		t.appendLocked([]byte{toolCall, pieceEnd})
	}
}

// Add adds the text of a whole chunk, as it came between its quotes. first reports that there was nothing to take
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

// End ends a chunk that came in pieces. The last piece ended with suffix, which is not part of the text; if it ended
// with something else, the text ends at its closing quote. suffix is shorter than tailSize.
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

// emptyLocked reports whether there is nothing to take.
func (t *Text) emptyLocked() bool { return t.open || len(t.head) == 0 && len(t.tail) == 0 }

func (t *Text) writeLocked(raw []byte) {
	t.toolsCalled = t.toolsCalled && len(raw) == 0
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

// Take returns what was added since the last Take, decoded: one part, or two with something dropped between them. While
// a chunk is being added in pieces, which takes a moment, it returns nothing.
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

// decode decodes texts. cut says that the first one lacks its beginning.
func (t *Text) decode(pieces []byte, cut bool) string {
	var text []byte
	for len(pieces) > 0 {
		piece, rest, _ := bytes.Cut(pieces, []byte{pieceEnd})
		pieces = rest
		if cut {
			piece, cut = frame.SkipCut(piece), false
		}
		switch {
		case len(piece) == 0:
			continue
		case piece[0] == toolCall:
			text = append(text, chars.ToolMark...)
			t.paragraph = true
			continue
		case t.paragraph && t.taken && !t.endsLine:
			text = append(text, "\n\n"...)
		}
		t.paragraph = false
		text = frame.AppendDecoded(text, piece)
		if n := len(text); n > 0 {
			t.taken, t.endsLine = true, text[n-1] == '\n'
		}
	}
	return string(text)
}
