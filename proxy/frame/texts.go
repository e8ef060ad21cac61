package frame

import "bytes"

// Texts finds the texts of the content blocks of a frame that arrives in pieces: "text" beside a "type" that is "text",
// nothing inside of "resource". It goes from colon to colon, because every key is followed by one while texts, images
// and files have few or none: what is between is skipped at the speed of memory. Keys with escaped letters are not
// found.
type Texts struct {
	Into Listener

	back        [lookBehind]byte // the end of the piece before
	backLen     int
	state       textState
	key         string // the last key that matters; its value is awaited or read
	before      string // the key that matters before it
	value       []byte // the beginning of a short value
	blank       bool   // only white space was read of the current text
	typePending bool   // the type of the current text's block is not known yet
	held        []byte // the current text, while that is so
	isText      bool   // the block's type is "text", and its text is still to come
	inResource  bool
	off         bool // _meta switches memory off
}

// A Listener is given the texts of a frame, in order.
type Listener interface {
	Begin() // a text begins
	// Write takes the next bytes of the text, escaped as in the frame. The quote that closes it, and bytes after that,
	// may be among them. It must not keep raw.
	Write(raw []byte)
}

type textState uint8

const (
	betweenKeys  textState = iota
	beforeValue            // after a key that matters and its colon
	inShortValue           // of "type" or "inject"
	inText
)

const (
	lookBehind = 64       // bytes in front of a colon in which its key is searched
	shortValue = 16       // bytes of a short value that are kept
	maxPending = 64 << 10 // bytes of a text that are held for its type; a longer one is taken for a text
)

// The keys that matter.
const (
	keyText     = "text"
	keyType     = "type"
	keyResource = "resource"
	keyOurs     = "signet.ai"
	keyInject   = "inject"
)

var textKeys = []string{keyText, keyType, keyResource, keyOurs, keyInject}

// Write takes the next piece of the frame. It does not keep piece.
func (t *Texts) Write(piece []byte) {
	done := 0 // bytes of piece that were taken
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
		key, block, ok := t.keyBefore(piece, at)
		if !ok {
			continue
		}
		t.take(piece[done:at])
		if done = at; t.onlyQuote() { // the quote before the colon opens a string, and is no key's
			continue
		}
		done = at + 1
		t.endValue()
		t.beginValue(key, block)
	}
	t.take(piece[done:])
	if len(piece) >= lookBehind {
		t.backLen = copy(t.back[:], piece[len(piece)-lookBehind:])
		return
	}
	if over := t.backLen + len(piece) - lookBehind; over > 0 {
		t.backLen = copy(t.back[:], t.back[over:t.backLen])
	}
	t.backLen += copy(t.back[t.backLen:], piece)
}

// inString reports whether the three bytes in front of a colon show that it is inside of a string, as most are: they do
// not end in a key's closing quote or in white space.
func inString(b []byte) bool {
	return !isSpace(b[2]) && (b[2] != '"' || b[1] == '\\' && b[0] != '\\')
}

// onlyQuote reports whether only the opening quote, and white space, was read of the current value.
func (t *Texts) onlyQuote() bool {
	switch t.state {
	case inText:
		return t.blank
	case inShortValue:
		return string(bytes.TrimSpace(t.value)) == `"`
	}
	return false
}

// keyBefore returns the key in front of the colon at i, "" if it does not matter, and whether it is the first key of an
// object in an array, so that a content block begins. ok is false if there is no key: the colon is inside of a string.
func (t *Texts) keyBefore(piece []byte, i int) (key string, block, ok bool) {
	behind := piece[max(0, i-lookBehind):i]
	if i < lookBehind {
		var joined [2 * lookBehind]byte
		n := copy(joined[:], t.back[:t.backLen])
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
	for _, key := range textKeys {
		if string(name) == key {
			return key, block, true
		}
	}
	return "", block, true
}

// trimSpace returns b without the white space at its end.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// beginValue notes a key whose value comes next. block says that a content block begins with it.
func (t *Texts) beginValue(key string, block bool) {
	if block {
		t.isText, t.inResource, t.typePending = false, false, false
	}
	t.before, t.key = t.key, key
	switch {
	case key == keyResource:
		t.inResource = true
	case key == keyType, key == keyText, key == keyInject && t.before == keyOurs:
		t.state = beforeValue
	}
}

// take takes bytes up to the next key that matters.
func (t *Texts) take(b []byte) {
	if t.state == beforeValue {
		i := space(b, 0)
		if i == len(b) {
			return
		}
		b = b[i:]
		t.value = t.value[:0]
		switch {
		case t.key != keyText:
			t.state = inShortValue
		case b[0] == '"':
			t.state, b = inText, b[1:]
			t.blank = true
			if !t.inResource {
				t.typePending, t.held = !t.isText, t.held[:0]
				if t.isText {
					t.Into.Begin()
				}
				t.isText = false
			}
		default:
			t.state = betweenKeys
		}
	}
	switch t.state {
	case inShortValue:
		t.value = append(t.value, b[:min(len(b), shortValue-len(t.value))]...)
	case inText:
		t.blank = t.blank && space(b, 0) == len(b)
		switch {
		case t.inResource:
		case !t.typePending:
			t.Into.Write(b)
		default:
			if t.held = append(t.held, b...); len(t.held) > maxPending {
				t.takePending()
			}
		}
	}
}

// endValue ends the current value: the next key has come, or the frame's end.
func (t *Texts) endValue() {
	if t.state == inShortValue {
		value := bytes.TrimSpace(t.value)
		isText := bytes.HasPrefix(value, []byte(`"text"`))
		switch {
		case t.key == keyInject:
			t.off = t.off || bytes.HasPrefix(value, []byte("false"))
		case !t.typePending:
			t.isText = isText
		case isText:
			t.takePending()
		}
	}
	t.state = betweenKeys
}

// takePending returns the held text to the listener: its block is a text.
func (t *Texts) takePending() {
	t.typePending = false
	t.Into.Begin()
	t.Into.Write(t.held)
}

// End ends the frame, and reports whether its _meta switches memory off ("signet.ai", "inject").
func (t *Texts) End() (off bool) {
	t.endValue()
	return t.off
}
