package proxy

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// A collector keeps the texts of a prompt, which frame.Texts gives it as they come. Up to maxPrompt bytes are kept as
// they came and decoded by Words. Of more, private passages are taken out first, and then the middle of each long text,
// so that what is kept depends on the prompt alone and not on the pieces in which it comes.
type collector struct {
	raw    []byte // the texts as they came, up to maxPrompt bytes
	begins []int  // where in raw each of them begins

	thinned  bool   // there are more, and what follows is used instead
	ahead    []byte // the newest bytes of the last text, not scanned yet
	head     []byte // blocks of the first text, decoded only when Words is called
	headSize int    // bytes of head once it is decoded, at least
	passed   int    // bytes after head that were skipped
	headOnly bool   // nothing but head and ahead is kept so far: no block mentioned private

	decoder  frame.Decoder
	decoded  []byte // buffer for one block
	passages privacy.Passages
	texts    []longText
	kept     int // bytes kept of all texts but the last
}

// collectors lend their buffers to the next prompt: these are most of what a prompt would leave to be collected.
var collectors = sync.Pool{New: func() any { return new(collector) }}

// newCollector returns an empty collector, to be released.
func newCollector() *collector { return collectors.Get().(*collector) }

const maxReused = 4 // texts whose buffers are kept

// Release gives the buffers to another prompt.
func (w *collector) Release() {
	*w = collector{
		raw: w.raw[:0], begins: w.begins[:0], ahead: w.ahead[:0], head: w.head[:0], decoded: w.decoded[:0],
		texts: w.texts[:0],
	}
	if cap(w.texts) > maxReused {
		w.texts = nil
	}
	collectors.Put(w)
}

// collect collects the texts of a whole frame.
func collect(line []byte) *collector {
	w := newCollector()
	texts := frame.Texts{Into: w}
	texts.Write(line)
	texts.End()
	w.End()
	return w
}

// Begin begins a text (frame.Listener).
func (w *collector) Begin() {
	if w.thinned {
		w.beginText()
	} else {
		w.begins = append(w.begins, len(w.raw))
	}
}

// Write takes the next bytes of it.
func (w *collector) Write(raw []byte) {
	if w.thinned {
		w.scan(raw)
		return
	}
	if len(w.raw)+len(raw) <= maxPrompt {
		w.raw = append(w.raw, raw...)
		return
	}
	w.thinned = true
	for i := range w.begins {
		w.beginText()
		w.scan(w.text(i))
	}
	w.raw, w.begins = w.raw[:0], w.begins[:0]
	w.scan(raw)
}

// End ends the last text.
func (w *collector) End() {
	if w.thinned && !w.headOnly {
		w.finish()
	}
}

func (w *collector) finish() {
	w.readAhead()
	w.read(w.decoder.End(), true)
	w.ahead, w.decoded = w.ahead[:0], w.decoded[:0]
}

// text returns one of the texts in raw.
func (w *collector) text(i int) []byte {
	if i+1 < len(w.begins) {
		return w.raw[w.begins[i]:w.begins[i+1]]
	}
	return w.raw[w.begins[i]:]
}

// beginText begins a text once there are many. It gets what is left of the room, of which the texts before it count
// half.
func (w *collector) beginText() {
	if n := len(w.texts); n > 0 {
		w.readAhead()
		w.read(append(w.decoder.End(), '\n'), false)
		w.kept += w.texts[n-1].size()
	}
	w.decoder, w.headOnly = frame.Decoder{}, len(w.texts) == 0
	n := len(w.texts)
	w.texts = slices.Grow(w.texts, 1)[:n+1]
	t := &w.texts[n] // with the buffers of one that was released
	*t = longText{room: maxPrompt - w.kept/2, head: t.head[:0], tail: t.tail[:0]}
}

const (
	lookBlock = 16 << 10      // bytes of a text that are decoded or skipped together
	lookBatch = 32 << 10      // bytes that are scanned at a time
	lookAhead = maxPrompt / 4 // the last bytes of a text, which are never skipped: its end is kept
	tagName   = 16            // bytes after a block that are searched too: a tag may go on there
)

// scan takes the next bytes of a text, and decodes or skips all but its last lookAhead.
func (w *collector) scan(raw []byte) {
	if cap(w.ahead) == 0 {
		w.ahead = make([]byte, 0, lookAhead+lookBatch+tagName)
	}
	for len(raw) > 0 {
		n := min(len(raw), cap(w.ahead)-len(w.ahead))
		w.ahead, raw = append(w.ahead, raw[:n]...), raw[n:]
		if len(w.ahead) < cap(w.ahead) {
			return
		}
		at := 0
		for at < lookBatch {
			block := wholeEscapes(w.ahead[at : at+lookBlock])
			w.block(block, !mentionsPrivate(w.ahead[at:at+len(block)+tagName]))
			at += len(block)
		}
		w.ahead = w.ahead[:copy(w.ahead, w.ahead[at:])]
	}
}

// block takes the next block of a text. plain says that the block does not mention private: if the text is too long
// already, such a block is skipped without being decoded. A tag with escaped letters is not seen in it.
func (w *collector) block(raw []byte, plain bool) {
	switch {
	case w.headOnly && plain && w.headSize < maxPrompt+maxPrompt/4:
		if cap(w.head) == 0 { // which most long texts fill
			w.head = make([]byte, 0, maxPrompt+maxPrompt/4+lookBlock)
		}
		w.head = append(w.head, raw...)
		w.headSize += decodedSize(raw)
	case w.headOnly && plain:
		w.passed += len(raw)
	default:
		w.readHead()
		w.readBlock(raw, plain)
	}
}

// readHead decodes head, before the first block that cannot be skipped or at the end.
func (w *collector) readHead() {
	if !w.headOnly {
		return
	}
	w.headOnly = false
	for block := range blocks(w.head) {
		if w.passed > 0 && w.last().headFull() && w.between() { // what is skipped begins here
			w.passed += len(block)
		} else {
			w.readBlock(block, true)
		}
	}
	if w.passed > 0 {
		w.last().skip(w.passed)
	}
	w.head, w.passed = w.head[:0], 0
}

// blocks cuts a piece of a JSON string, which begins outside of an escape, between two escapes as far as it can.
func blocks(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(raw) > 0 {
			block := wholeEscapes(raw[:min(lookBlock, len(raw))])
			if len(block) == 0 { // a lone backslash at the end
				block = raw
			}
			raw = raw[len(block):]
			if !yield(block) {
				return
			}
		}
	}
}

// readAhead decodes what was not scanned, because the text has ended.
func (w *collector) readAhead() {
	w.readHead()
	plain, early := !mentionsPrivate(w.ahead), wholeEscapes(w.ahead[:max(0, len(w.ahead)-lookAhead)])
	for block := range blocks(early) {
		w.readBlock(block, plain)
	}
	for block := range blocks(w.ahead[len(early):]) {
		w.readBlock(block, false)
	}
	w.ahead = w.ahead[:0]
}

// readBlock decodes a block. A plain one is skipped if there is no room for it.
func (w *collector) readBlock(raw []byte, plain bool) {
	if plain && w.last().left() > 0 && w.between() {
		w.last().skip(len(raw))
		return
	}
	w.decoded = w.decoder.Append(w.decoded[:0], raw)
	w.read(w.decoded, false)
}

// between reports whether what was read ends between two characters, outside of private passages.
func (w *collector) between() bool { return w.decoder.Idle() && w.passages.Outside() }

func (w *collector) last() *longText { return &w.texts[len(w.texts)-1] }

func (w *collector) read(text []byte, end bool) {
	if !w.passages.Plain(text) {
		text = []byte(w.passages.Add(string(text), end))
	}
	w.last().add(text)
}

// Empty reports whether there were no texts.
func (w *collector) Empty() bool { return len(w.begins) == 0 && len(w.texts) == 0 }

// Omitted is how many bytes were not kept.
func (w *collector) Omitted() (left int) {
	if w.headOnly { // an estimate: ahead may hold longer escapes
		return max(0, w.headSize+w.passed+decodedSize(w.ahead)-maxPrompt)
	}
	for _, t := range w.texts {
		left += t.left()
	}
	return left
}

// decodedSize is how many bytes a piece of a JSON string has once it is decoded, at least.
func decodedSize(raw []byte) int {
	return len(raw) - bytes.Count(raw, []byte(`\`)) + bytes.Count(raw, []byte(`\\`)) - 4*bytes.Count(raw, []byte(`\u`))
}

// Size is how many bytes of texts it has kept.
func (w *collector) Size() int {
	size := len(w.raw) + len(w.head) + len(w.ahead)
	for _, t := range w.texts {
		size += t.size()
	}
	return size
}

// Words returns what the user says without its private passages, and these. A long prompt without any text holds images
// or files.
func (w *collector) Words() (words string, private []string) {
	if w.Empty() {
		return "[attachment]", nil
	}
	if w.headOnly {
		w.finish()
	}
	if len(w.texts) == 1 {
		return w.last().words(), w.passages.Found()
	}
	if w.thinned {
		var all strings.Builder
		for _, t := range w.texts {
			all.WriteString(t.words())
		}
		return all.String(), w.passages.Found()
	}
	all := slices.Grow(w.decoded, len(w.raw)+len(w.begins)) // most say less than they have bytes
	for i := range w.begins {
		if i > 0 {
			all = append(all, '\n')
		}
		all = frame.AppendDecoded(all, w.text(i))
	}
	words, private = privacy.WithoutPrivate(string(all))
	w.decoded = all[:0]
	return words, private
}

// A longText keeps the beginning of a text in three quarters of its room, and the end in the last quarter.
type longText struct {
	room       int
	head, tail []byte
	tailSize   int // bytes after the head, kept or not
}

const leastRoom = 512 // bytes below which nothing is kept

func (t *longText) add(text []byte) {
	end := t.room / 4
	if t.room < leastRoom {
		end = 0
	} else if n := min(t.room-end-len(t.head), len(text)); n > 0 {
		if len(t.head) > 0 { // a long one
			t.head = slices.Grow(t.head, t.room-end-len(t.head))
		}
		t.head = append(t.head, text[:n]...)
		text = text[n:]
	}
	t.tailSize += len(text)
	t.tail = append(t.tail, text[max(0, len(text)-end):]...)
	if len(t.tail) > 2*end {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-end:]...)
	}
}

// headFull reports whether what comes is not of the head.
func (t *longText) headFull() bool { return len(t.head) >= t.room-t.room/4 }

// skip leaves out the next bytes, which are not the end.
func (t *longText) skip(bytes int) {
	t.tailSize += bytes
	t.tail = t.tail[:0]
}

// ending returns what is kept of the end.
func (t *longText) ending() []byte {
	return t.tail[max(0, len(t.tail)-t.room/4):]
}

func (t *longText) size() int { return len(t.head) + len(t.ending()) }
func (t *longText) left() int { return t.tailSize - len(t.ending()) }

// words returns what was kept, with frame.Seam in place of what was left out, cut between words where there is a space
// nearby.
func (t *longText) words() string {
	head, seam, tail := t.head, "", t.ending()
	if t.left() > 0 {
		seam = frame.Seam
		if n := bytes.LastIndexAny(head, " \n"); n >= 0 && n > len(head)-nearSpace {
			head = head[:n]
		}
		if n := bytes.IndexAny(tail, " \n"); n >= 0 && n < nearSpace {
			tail = tail[n+1:]
		}
		for range utf8.UTFMax - 1 { // bytes of a character that is cut in two
			if r, size := utf8.DecodeLastRune(head); r == utf8.RuneError && size == 1 {
				head = head[:len(head)-1]
			}
			if len(tail) > 0 && !utf8.RuneStart(tail[0]) {
				tail = tail[1:]
			}
		}
	}
	var all strings.Builder
	all.Grow(len(head) + len(seam) + len(tail))
	all.Write(head)
	all.WriteString(seam)
	all.Write(tail)
	return all.String()
}

const nearSpace = 1 << 10 // bytes that may be cut off in addition, to cut between words

// wholeEscapes returns a piece of a JSON string, which begins outside of an escape, without a backslash at its end
// whose escape goes on behind it: that may be an escaped quote.
func wholeEscapes(raw []byte) []byte {
	slashes := len(raw) - len(bytes.TrimRight(raw, `\`))
	return raw[:len(raw)-slashes%2]
}

// mentionsPrivate reports whether a piece of text holds the word private, in any case. It searches for the letter v,
// which is rare.
func mentionsPrivate(raw []byte) bool {
	const before, after = len("pri"), len("vate")
	for _, rare := range []byte("vV") {
		for at := 0; ; at++ {
			n := bytes.IndexByte(raw[at:], rare)
			if n < 0 {
				break
			}
			at += n
			if at >= before && at+after <= len(raw) && bytes.EqualFold(raw[at-before:at+after], []byte("private")) {
				return true
			}
		}
	}
	return false
}
