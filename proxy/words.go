package proxy

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// promptWords are the words of a prompt, whose texts they are told as these come. As long as they are few they are kept
// as they came, and are read by whoever wants them. Of more, what is private is taken out first, and then the middle of
// what is long. So what is kept depends on the prompt alone, and not on the pieces that it comes in.
type promptWords struct {
	raw    []byte // of the texts, while they are few
	begins []int  // where in raw each of them begins

	long   bool   // they are not few, and what follows is used
	ahead  []byte // what came of the last text and was not looked at
	head   []byte // blocks of the first text, read beside the conversation once its words are asked for
	says   int    // how many bytes head says, at least
	passed int    // bytes behind head that were passed over
	unread bool   // that is so: no block spoke of private

	decoder  frame.Decoder
	decoded  []byte // room for what is read at a time
	passages privacy.Passages
	texts    []longText
	kept     int // bytes of texts, but for the last one
}

// wordsOf gives the words of a whole frame.
func wordsOf(line []byte) *promptWords {
	w := &promptWords{}
	texts := frame.Texts{Into: w}
	texts.Write(line)
	texts.End()
	w.End()
	return w
}

// Begin begins a text.
func (w *promptWords) Begin() {
	if w.long {
		w.begin()
	} else {
		w.begins = append(w.begins, len(w.raw))
	}
}

// Write takes what comes next of it.
func (w *promptWords) Write(raw []byte) {
	if w.long {
		w.look(raw)
		return
	}
	if len(w.raw)+len(raw) <= maxPrompt {
		w.raw = append(w.raw, raw...)
		return
	}
	w.long = true
	for i := range w.begins {
		w.begin()
		w.look(w.text(i))
	}
	w.raw, w.begins = nil, nil
	w.look(raw)
}

// End ends the last text.
func (w *promptWords) End() {
	if w.long && !w.unread {
		w.end()
	}
}

func (w *promptWords) end() {
	w.readAhead()
	w.read(w.decoder.End(), true)
	w.ahead, w.decoded = nil, nil
}

// text gives one of the few as it came.
func (w *promptWords) text(i int) []byte {
	if i+1 < len(w.begins) {
		return w.raw[w.begins[i]:w.begins[i+1]]
	}
	return w.raw[w.begins[i]:]
}

// begin begins one of many words. It has half of the room that is left.
func (w *promptWords) begin() {
	if n := len(w.texts); n > 0 {
		w.readAhead()
		w.read(append(w.decoder.End(), '\n'), false)
		w.kept += w.texts[n-1].size()
	}
	w.decoder, w.unread = frame.Decoder{}, len(w.texts) == 0
	w.texts = append(w.texts, longText{room: maxPrompt - w.kept/2})
}

const (
	lookBlock = 16 << 10      // bytes of a text that are read or passed over together
	lookBatch = 32 << 10      // of which so many
	lookAhead = maxPrompt / 4 // the last bytes of a text are all read: its end is kept
	tagName   = 16            // bytes in which a tag has its name: what begins it belongs to the block before
)

// look looks at what comes of a text, but for its end.
func (w *promptWords) look(raw []byte) {
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
			block := uncut(w.ahead[at : at+lookBlock])
			w.block(block, !mentions(w.ahead[at:at+len(block)+tagName]))
			at += len(block)
		}
		w.ahead = w.ahead[:copy(w.ahead, w.ahead[at:])]
	}
}

// block takes the next block of a text. Where the text is too long already, and the block does not speak of private, it
// passes that over at the speed of memory. A tag that is spelled in odd ways is not seen in there.
func (w *promptWords) block(raw []byte, plain bool) {
	switch {
	case w.unread && plain && w.says < maxPrompt+maxPrompt/4:
		w.head = append(w.head, raw...)
		w.says += decodedSize(raw)
	case w.unread && plain:
		w.passed += len(raw)
	default:
		w.readHead()
		w.readBlock(raw, plain)
	}
}

// readHead reads what stands before the first block that has to be read, or before the end.
func (w *promptWords) readHead() {
	if !w.unread {
		return
	}
	w.unread = false
	for block := range slices.Chunk(w.head, lookBlock) {
		w.readBlock(block, true)
	}
	if w.passed > 0 {
		w.last().pass(w.passed)
	}
	w.head, w.passed = nil, 0
}

// readAhead reads what was not looked at, for the text has ended.
func (w *promptWords) readAhead() {
	w.readHead()
	plain, early := !mentions(w.ahead), uncut(w.ahead[:max(0, len(w.ahead)-lookAhead)])
	for block := range slices.Chunk(early, lookBlock) {
		w.readBlock(block, plain)
	}
	for block := range slices.Chunk(w.ahead[len(early):], lookBlock) {
		w.readBlock(block, false)
	}
	w.ahead = w.ahead[:0]
}

// readBlock reads a block. One that does not speak of private is passed over if there is no room for it.
func (w *promptWords) readBlock(raw []byte, plain bool) {
	if plain && w.last().left() > 0 && w.decoder.Idle() && w.passages.Outside() {
		w.last().pass(len(raw))
		return
	}
	w.decoded = w.decoder.Append(w.decoded[:0], raw)
	w.read(w.decoded, false)
}

func (w *promptWords) last() *longText { return &w.texts[len(w.texts)-1] }

func (w *promptWords) read(text []byte, end bool) {
	w.last().add(w.passages.Add(string(text), end))
}

// Empty reports whether there are no texts.
func (w *promptWords) Empty() bool { return len(w.begins) == 0 && len(w.texts) == 0 }

// Omitted is how many bytes were left out.
func (w *promptWords) Omitted() (left int) {
	if w.unread { // nearly: what is ahead may have longer escapes
		return max(0, w.says+w.passed+decodedSize(w.ahead)-maxPrompt)
	}
	for _, t := range w.texts {
		left += t.left()
	}
	return left
}

// decodedSize is how many bytes a piece of a JSON string says, at least.
func decodedSize(raw []byte) int {
	return len(raw) - bytes.Count(raw, []byte(`\`)) + bytes.Count(raw, []byte(`\\`)) - 4*bytes.Count(raw, []byte(`\u`))
}

// Size is that of what was kept.
func (w *promptWords) Size() int {
	size := len(w.raw) + len(w.head) + len(w.ahead)
	for _, t := range w.texts {
		size += t.size()
	}
	return size
}

// Words gives what the user says, and the passages in it that are private. A prompt that is long and has no text
// holds images or files.
func (w *promptWords) Words() (words string, private []string) {
	if w.Empty() {
		return "[attachment]", nil
	}
	if w.unread {
		w.end()
	}
	if w.long {
		var all strings.Builder
		for _, t := range w.texts {
			all.WriteString(t.words())
		}
		return all.String(), w.passages.Found()
	}
	var all []byte
	for i := range w.begins {
		if i > 0 {
			all = append(all, '\n')
		}
		all = frame.AppendDecoded(all, w.text(i))
	}
	return privacy.WithoutPrivate(string(all))
}

// A longText keeps the beginning and the end of a text: three quarters of its room, and the last one.
type longText struct {
	room       int
	head, tail []byte
	behind     int // bytes behind the head
}

const leastRoom = 512 // bytes below which nothing is kept

func (t *longText) add(text string) {
	end := t.room / 4
	if t.room < leastRoom {
		end = 0
	} else if n := min(t.room-end-len(t.head), len(text)); n > 0 {
		t.head = append(t.head, text[:n]...)
		text = text[n:]
	}
	t.behind += len(text)
	t.tail = append(t.tail, text[max(0, len(text)-end):]...)
	if len(t.tail) > 2*end {
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-end:]...)
	}
}

// pass leaves out what comes next, which is not the end.
func (t *longText) pass(bytes int) {
	t.behind += bytes
	t.tail = t.tail[:0]
}

// ending is what is kept of the end.
func (t *longText) ending() []byte {
	return t.tail[max(0, len(t.tail)-t.room/4):]
}

func (t *longText) size() int { return len(t.head) + len(t.ending()) }
func (t *longText) left() int { return t.behind - len(t.ending()) }

// words gives what was kept, with frame.Seam in place of what was left out, between words if some end nearby.
func (t *longText) words() string {
	head, tail := string(t.head), string(t.ending())
	if t.left() == 0 {
		return head + tail
	}
	if n := strings.LastIndexAny(head, " \n"); n >= 0 && n > len(head)-nearSpace {
		head = head[:n]
	}
	if n := strings.IndexAny(tail, " \n"); n >= 0 && n < nearSpace {
		tail = tail[n+1:]
	}
	for range utf8.UTFMax - 1 { // of a character that is cut in two
		if r, size := utf8.DecodeLastRuneInString(head); r == utf8.RuneError && size == 1 {
			head = head[:len(head)-1]
		}
		if tail != "" && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
	}
	return head + frame.Seam + tail
}

const nearSpace = 1 << 10 // bytes that may be cut off besides, to cut between words

// uncut gives a piece of a JSON string, which begins outside of an escape, up to where it ends outside of one of two
// letters: the second may be a quote.
func uncut(raw []byte) []byte {
	slashes := len(raw) - len(bytes.TrimRight(raw, `\`))
	return raw[:len(raw)-slashes%2]
}

// mentions reports whether the word private stands in a piece of a text. It looks for the letter that is rare.
func mentions(raw []byte) bool {
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
