package frame

import "bytes"

// A Reader of prompts looks for their texts from colon to colon, for a key stands before each that is outside of
// strings, and texts, images and files have few of them or none: what lies between is passed over at the speed of
// memory.

// Texts finds the texts of the content blocks of a frame that arrives in pieces: "text" beside a "type" that is "text",
// nothing of "resource". Keys whose letters are written as escapes are not found.
type Texts struct {
	Into Listener

	back    [backSize]byte // the end of what was read before
	backLen int
	state   textState
	key     string // whose value is awaited or read
	before  string // the key before it
	value   []byte // of a short value, its beginning
	blank   bool   // nothing but white space was read of the text at hand
	pending bool   // the type of the block of the text at hand is not known yet
	held    []byte // that text
	isText  bool   // the block's type has been read, and no text of it yet
	inside  bool   // a resource
	off     bool
}

// A Listener is told the texts of a frame, in order.
type Listener interface {
	Begin() // a text begins
	// Write takes what comes next of it, as it stands in the frame behind the quote that opens it: perhaps also the
	// quote that closes it, and more.
	Write(raw []byte)
}

type textState uint8

const (
	betweenKeys  textState = iota
	beforeValue            // behind a key that counts and its colon
	inShortValue           // of "type", "inject"
	inText
)

const (
	backSize   = 64       // bytes in front of a piece in which a key's end is looked for
	shortValue = 16       // bytes of a short value that are kept
	mostHeld   = 64 << 10 // bytes of a text whose block's type is not known; a longer one is taken for one
)

// The keys that count.
const (
	keyText     = "text"
	keyType     = "type"
	keyResource = "resource"
	keyOurs     = "signet.ai"
	keyInject   = "inject"
)

var textKeys = []string{keyText, keyType, keyResource, keyOurs, keyInject}

// Write takes the next piece.
func (t *Texts) Write(piece []byte) {
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
		key, block, ok := t.keyBefore(piece, at)
		if !ok {
			continue
		}
		t.take(piece[done:at])
		if done = at; t.opening() { // the quote opens a string that begins with a colon
			continue
		}
		done = at + 1
		t.finish()
		t.begin(key, block)
	}
	t.take(piece[done:])
	if len(piece) >= backSize {
		t.backLen = copy(t.back[:], piece[len(piece)-backSize:])
		return
	}
	if over := t.backLen + len(piece) - backSize; over > 0 {
		t.backLen = copy(t.back[:], t.back[over:t.backLen])
	}
	t.backLen += copy(t.back[t.backLen:], piece)
}

// inString reports whether three bytes in front of a colon tell that it is inside of a string, as most are. A space
// tells nothing.
func inString(b []byte) bool {
	return !isSpace(b[2]) && (b[2] != '"' || b[1] == '\\' && b[0] != '\\')
}

// opening reports whether nothing but the quote that opens it, and white space, was read of a value.
func (t *Texts) opening() bool {
	switch t.state {
	case inText:
		return t.blank
	case inShortValue:
		return string(bytes.TrimSpace(t.value)) == `"`
	}
	return false
}

// keyBefore gives the key, if it is one that counts, else "", whose closing quote stands before the colon at i, and
// whether it is the first of an object in an array. ok is false where none does: the colon is inside of a string.
func (t *Texts) keyBefore(piece []byte, i int) (key string, block, ok bool) {
	behind := piece[max(0, i-backSize):i]
	if i < backSize {
		var joined [2 * backSize]byte
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

// trimSpace gives b without the white space at its end.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// begin notes a key, and what its value is. block says that a content block begins with it.
func (t *Texts) begin(key string, block bool) {
	if block {
		t.isText, t.inside, t.pending = false, false, false
	}
	t.before, t.key = t.key, key
	switch {
	case key == keyResource:
		t.inside = true
	case key == keyType, key == keyText, key == keyInject && t.before == keyOurs:
		t.state = beforeValue
	}
}

// take takes bytes up to the next key.
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
			if !t.inside {
				t.pending, t.held = !t.isText, t.held[:0]
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
		case t.inside:
		case !t.pending:
			t.Into.Write(b)
		default:
			if t.held = append(t.held, b...); len(t.held) > mostHeld {
				t.settle()
			}
		}
	}
}

// finish ends the value that was read when the next key has come, or the frame's end.
func (t *Texts) finish() {
	if t.state == inShortValue {
		t.short(bytes.TrimSpace(t.value))
	}
	t.state = betweenKeys
}

// settle gives the text whose block's type was not known: it is one.
func (t *Texts) settle() {
	t.pending = false
	t.Into.Begin()
	t.Into.Write(t.held)
}

func (t *Texts) short(value []byte) {
	if t.key == keyInject {
		t.off = t.off || bytes.HasPrefix(value, []byte("false"))
		return
	}
	switch isText := bytes.HasPrefix(value, []byte(`"text"`)); {
	case !t.pending:
		t.isText = isText
	case isText:
		t.settle()
	}
}

// End ends the frame. It says whether this asks us to leave its session alone (_meta, "signet.ai").
func (t *Texts) End() (off bool) {
	t.finish()
	return t.off
}
