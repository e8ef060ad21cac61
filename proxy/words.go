package proxy

import (
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

	long     bool // they are not few, and what follows is used
	decoder  frame.Decoder
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
		w.read(w.decoder.Add(raw), false)
		return
	}
	w.raw = append(w.raw, raw...)
	if len(w.raw) <= maxPrompt {
		return
	}
	w.long = true
	for i := range w.begins {
		w.begin()
		w.read(w.decoder.Add(w.text(i)), false)
	}
	w.raw, w.begins = nil, nil
}

// End ends the last text.
func (w *promptWords) End() {
	if w.long {
		w.read(w.decoder.End(), true)
	}
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
		w.read(append(w.decoder.End(), '\n'), false)
		w.kept += w.texts[n-1].size()
	}
	w.decoder = frame.Decoder{}
	w.texts = append(w.texts, longText{room: maxPrompt - w.kept/2})
}

func (w *promptWords) read(text []byte, end bool) {
	w.texts[len(w.texts)-1].add(w.passages.Add(string(text), end))
}

// Empty reports whether there are no texts.
func (w *promptWords) Empty() bool { return len(w.begins) == 0 && len(w.texts) == 0 }

// Left is how many bytes were left out.
func (w *promptWords) Left() (left int) {
	for _, t := range w.texts {
		left += t.left()
	}
	return left
}

// Size is that of what was kept.
func (w *promptWords) Size() int {
	size := len(w.raw)
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
