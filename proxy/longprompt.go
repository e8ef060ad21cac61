package proxy

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// A collector keeps the texts of a long prompt, which frame.Texts gives it as they come. It takes out private passages
// first, and then the middle of each long text, so that what is kept depends on the prompt alone and not on the pieces
// in which it comes.
type collector struct {
	buffers  // until the last text has ended
	decoder  frame.Decoder
	passages privacy.Passages
	texts    []chars.Excerpt // three quarters of their room are the beginning
	kept     int             // bytes kept of all texts but the last
}

// buffers are what a collector works with. The next one may have them then: prompts in quick succession would leave
// much to be collected.
type buffers struct {
	ahead   []byte // the newest bytes of the last text, not looked at yet
	decoded []byte // one block
}

// collect collects the texts of a whole frame.
func collect(line []byte) session.Prompt {
	w := &collector{}
	texts := frame.Texts{Into: w}
	texts.Write(line)
	texts.End()
	return w.End()
}

// Begin begins a text (frame.Listener). It gets what is left of the room, of which the texts before it count half.
func (w *collector) Begin() {
	if len(w.texts) > 0 {
		w.readAhead()
		w.read(append(w.decoder.End(), chars.BlockMark...), false)
		w.kept += w.last().Size()
	}
	w.decoder = frame.Decoder{}
	text := chars.Excerpt{}
	if room := maxPrompt - w.kept/2; room >= minRoom {
		text.MaxHead, text.MaxTail = room-room/4, room/4
	}
	w.texts = append(w.texts, text)
}

// End ends the last text, and returns what was collected.
func (w *collector) End() session.Prompt {
	if len(w.texts) > 0 {
		w.readAhead()
		w.read(w.decoder.End(), true)
	}
	w.buffers = buffers{}
	p := session.Prompt{Words: w.words}
	for _, t := range w.texts {
		p.Omitted += t.Omitted
		p.Size += t.Size()
	}
	return p
}

const minRoom = 512 // bytes below which nothing is kept of a text

const (
	lookBlock = 16 << 10      // bytes of a text that are decoded or skipped together
	lookBatch = 32 << 10      // bytes that are looked at together
	lookAhead = maxPrompt / 4 // the last bytes of a text, which are never skipped: its end is kept
	tagName   = 16            // bytes after a block that are searched too: a tag may go on there
)

// Write takes the next bytes of a text, and decodes or skips all but its last lookAhead.
func (w *collector) Write(raw []byte) {
	if cap(w.ahead) == 0 {
		w.ahead = make([]byte, 0, lookAhead+lookBatch+tagName)
	}
	for len(raw) > 0 {
		n := min(len(raw), cap(w.ahead)-len(w.ahead))
		w.ahead, raw = append(w.ahead, raw[:n]...), raw[n:]
		if len(w.ahead) < cap(w.ahead) {
			return
		}
		head := &w.last().Head // which a text as long as this fills
		*head = slices.Grow(*head, w.last().MaxHead-len(*head))
		at := 0
		for at < lookBatch {
			block := wholeEscapes(w.ahead[at : at+lookBlock])
			w.readBlock(block, !mentionsPrivate(w.ahead[at:at+len(block)+tagName]))
			at += len(block)
		}
		w.ahead = w.ahead[:copy(w.ahead, w.ahead[at:])]
	}
}

// readAhead decodes what was not looked at, because the text has ended.
func (w *collector) readAhead() {
	early := wholeEscapes(w.ahead[:max(0, len(w.ahead)-lookAhead)])
	w.readBlock(early, !mentionsPrivate(w.ahead))
	w.readBlock(w.ahead[len(early):], false)
	w.ahead = w.ahead[:0]
}

// readBlock decodes a block. A plain one, which does not mention private, is skipped if there is no room for it; a tag
// with escaped letters is not seen in it.
func (w *collector) readBlock(raw []byte, plain bool) {
	if plain && w.last().Omitted > 0 && w.decoder.Idle() && w.passages.Outside() {
		w.last().Skip(len(raw))
		return
	}
	w.decoded = w.decoder.Append(w.decoded[:0], raw)
	w.read(w.decoded, false)
}

func (w *collector) last() *chars.Excerpt { return &w.texts[len(w.texts)-1] }

func (w *collector) read(text []byte, end bool) {
	if !w.passages.Plain(text) {
		text = []byte(w.passages.Add(string(text), end))
	}
	w.last().Add(text)
}

// words returns what the user says without its private passages, and these. A long prompt without any text holds images
// or files.
func (w *collector) words() (words string, private []string) {
	if len(w.texts) == 0 {
		return "[attachment]", nil
	}
	var all strings.Builder
	for _, t := range w.texts {
		write(t, &all)
	}
	return all.String(), w.passages.Found
}

// write writes what was kept of a text, with frame.Seam in place of what was left out, cut between words where there is
// a space nearby.
func write(t chars.Excerpt, to *strings.Builder) {
	head, seam, tail := t.Head, "", t.Tail
	if t.Omitted > 0 {
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
	to.Write(head)
	to.WriteString(seam)
	to.Write(tail)
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
