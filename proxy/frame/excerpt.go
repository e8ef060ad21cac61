package frame

import "bytes"

// A Reader of prompts looks for their texts from colon to colon, for a key stands before each that is outside of
// strings, and texts, images and files have few of them or none: what lies between is passed over at the speed of
// memory.

// Excerpts takes the texts of the content blocks of a frame that arrives in pieces, of long ones the beginning and the
// end: "text" beside a "type" that is "text", nothing of "resource". Every text has a share of Limit, at most half of
// what is left of it. Keys whose letters are written as escapes are not found.
type Excerpts struct {
	Limit int // bytes that are kept, as they came

	kept    int
	texts   []Excerpt
	pending []Excerpt // texts whose block's type is not known yet

	back    [backSize]byte // the end of what was read before
	backLen int
	state   excerptState
	key     string // whose value is awaited or read
	before  string // the key before it
	value   []byte // of a short value, its beginning
	reading reading
	isText  bool // the block's type has been read, and no text of it yet
	inside  bool // a resource
	off     bool
}

// An Excerpt is what was kept of a text, as it stands in the frame: the whole, or its beginning and its end.
type Excerpt struct {
	Head, Tail []byte // from where its quote opens it, and up to where it closes or later
	Left       int    // bytes between them
}

type excerptState uint8

const (
	betweenKeys  excerptState = iota
	beforeValue               // behind a key that counts and its colon
	inShortValue              // of "type", "inject"
	inText
)

const (
	backSize   = 64 // bytes in front of a piece in which a key's end is looked for
	shortValue = 16 // bytes of a short value that are kept
)

// reading is the text that is being read.
type reading struct {
	Excerpt
	room int // for it, head and tail together
	size int
	// blank says that nothing but white space was read of it.
	blank bool
}

// The keys that count.
const (
	keyText     = "text"
	keyType     = "type"
	keyResource = "resource"
	keyOurs     = "signet.ai"
	keyInject   = "inject"
)

var excerptKeys = []string{keyText, keyType, keyResource, keyOurs, keyInject}

// Write takes the next piece.
func (e *Excerpts) Write(piece []byte) {
	done := 0 // what stands before it was taken
	for from := 0; ; {
		n := bytes.IndexByte(piece[from:], ':')
		if n < 0 {
			break
		}
		at := from + n
		from = at + 1
		if at > 2 && inString(piece[at-3:at]) {
			continue
		}
		key, block, ok := e.keyBefore(piece, at)
		if !ok {
			continue
		}
		e.take(piece[done:at])
		if done = at; e.opening() { // the quote opens a string that begins with a colon
			continue
		}
		done = at + 1
		e.finish()
		e.begin(key, block)
	}
	e.take(piece[done:])
	if len(piece) >= backSize {
		e.backLen = copy(e.back[:], piece[len(piece)-backSize:])
		return
	}
	if over := e.backLen + len(piece) - backSize; over > 0 {
		e.backLen = copy(e.back[:], e.back[over:e.backLen])
	}
	e.backLen += copy(e.back[e.backLen:], piece)
}

// inString reports whether three bytes in front of a colon tell that it is inside of a string, as most are. A space
// tells nothing.
func inString(b []byte) bool {
	return !isSpace(b[2]) && (b[2] != '"' || b[1] == '\\' && b[0] != '\\')
}

// opening reports whether nothing but the quote that opens it, and white space, was read of a value.
func (e *Excerpts) opening() bool {
	switch e.state {
	case inText:
		return e.reading.blank
	case inShortValue:
		return string(bytes.TrimSpace(e.value)) == `"`
	}
	return false
}

// keyBefore gives the key, if it is one that counts, else "", whose closing quote stands before the colon at i, and
// whether it is the first of an object in an array. ok is false where none does: the colon is inside of a string.
func (e *Excerpts) keyBefore(piece []byte, i int) (key string, block, ok bool) {
	behind := piece[max(0, i-backSize):i]
	if i < backSize {
		var joined [2 * backSize]byte
		n := copy(joined[:], e.back[:e.backLen])
		behind = joined[:n+copy(joined[n:], piece[:i])]
	}
	behind = trimSpace(behind)
	if len(behind) == 0 || behind[len(behind)-1] != '"' {
		return "", false, false
	}
	behind = behind[:len(behind)-1]
	slashes := 0
	for slashes < len(behind) && behind[len(behind)-1-slashes] == '\\' {
		slashes++
	}
	if slashes%2 == 1 {
		return "", false, false
	}
	open := bytes.LastIndexByte(behind, '"')
	if open < 0 {
		return "", false, true
	}
	name := behind[open+1:]
	if rest, ok := bytes.CutSuffix(trimSpace(behind[:open]), []byte("{")); ok {
		rest = trimSpace(rest)
		block = len(rest) > 0 && (rest[len(rest)-1] == ',' || rest[len(rest)-1] == '[')
	}
	for _, key := range excerptKeys {
		if string(name) == key {
			return key, block, true
		}
	}
	return "", block, true
}

// trimSpace gives b without the white space at its end.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// begin notes a key, and what its value is. block says that a content block begins with it.
func (e *Excerpts) begin(key string, block bool) {
	if block {
		e.isText, e.inside, e.pending = false, false, e.pending[:0]
	}
	e.before, e.key = e.key, key
	switch {
	case key == keyResource:
		e.inside = true
	case key == keyType, key == keyText, key == keyInject && e.before == keyOurs:
		e.state = beforeValue
	}
}

// take takes bytes up to the next key.
func (e *Excerpts) take(b []byte) {
	if e.state == beforeValue {
		i := space(b, 0)
		if i == len(b) {
			return
		}
		b = b[i:]
		e.value = e.value[:0]
		switch {
		case e.key != keyText:
			e.state = inShortValue
		case b[0] == '"':
			e.state, b = inText, b[1:]
			e.reading = reading{room: (e.Limit - e.kept) / 2, blank: true}
		default:
			e.state = betweenKeys
		}
	}
	switch e.state {
	case inShortValue:
		e.value = append(e.value, b[:min(len(b), shortValue-len(e.value))]...)
	case inText:
		e.reading.take(b)
	}
}

// take keeps what is the beginning or may be the end of a text: three quarters of its room, and the last one.
func (r *reading) take(b []byte) {
	r.blank = r.blank && space(b, 0) == len(b)
	if r.room < leastRoom {
		r.size += len(b)
		return
	}
	end := r.room / 4
	if n := min(r.room-end-len(r.Head), len(b)); n > 0 && r.size == len(r.Head) {
		r.Head = append(r.Head, b[:n]...)
		r.size += n
		b = b[n:]
	}
	if len(b) == 0 {
		return
	}
	r.size += len(b)
	if len(b) >= end {
		r.Tail = append(r.Tail[:0], b[len(b)-end:]...)
		return
	}
	r.Tail = append(r.Tail, b...)
	if len(r.Tail) > 2*end {
		r.Tail = append(r.Tail[:0], r.Tail[len(r.Tail)-end:]...)
	}
}

// finish ends the value that was read when the next key has come, or the frame's end.
func (e *Excerpts) finish() {
	switch e.state {
	case inShortValue:
		e.short(bytes.TrimSpace(e.value))
	case inText:
		r := e.reading
		r.Left = r.size - len(r.Head) - len(r.Tail)
		e.kept += len(r.Head) + len(r.Tail)
		switch {
		case e.inside:
			e.kept -= len(r.Head) + len(r.Tail)
		case e.isText:
			e.isText = false
			e.texts = append(e.texts, r.Excerpt)
		default:
			e.pending = append(e.pending[:0], r.Excerpt)
		}
	}
	e.state = betweenKeys
}

func (e *Excerpts) short(value []byte) {
	if e.key == keyInject {
		e.off = e.off || bytes.HasPrefix(value, []byte("false"))
		return
	}
	isText := bytes.HasPrefix(value, []byte(`"text"`))
	if isText && len(e.pending) > 0 {
		e.texts = append(e.texts, e.pending...)
		e.pending = e.pending[:0]
		return
	}
	e.isText = isText
}

// End ends the frame. It gives its texts, and whether it asks us to leave its session alone (_meta, "signet.ai").
func (e *Excerpts) End() (texts []Excerpt, off bool) {
	e.finish()
	return e.texts, e.off
}

// Append appends what an excerpt says to text, with Seam in place of what was left out.
func (x Excerpt) Append(text []byte) []byte {
	whole := x.Head
	if x.Left == 0 {
		whole = append(whole, x.Tail...)
	}
	text, closed := appendDecoded(text, whole)
	if x.Left == 0 || closed {
		return text
	}
	text = append(cutWord(text), Seam...)
	tail := Resume(x.Tail)
	if _, closed := appendDecoded(nil, x.Tail[:len(x.Tail)-len(tail)]); closed { // it ended before reading can begin
		return text
	}
	return AppendDecoded(text, tail)
}

// cutWord takes off the last word, which may be cut in two, if it is a short one.
func cutWord(text []byte) []byte {
	if n := bytes.LastIndexAny(text, " \n"); n >= 0 && n > len(text)-nearSpace {
		return text[:n]
	}
	return text
}
