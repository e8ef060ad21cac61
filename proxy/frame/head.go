package frame

import "bytes"

// A Kind says what a line starts with.
type Kind uint8

const (
	Blank  Kind = iota // white space only
	Object             // {
	Batch              // [
	Noise              // anything else: no JSON-RPC
)

// A Head is what routing needs of a frame. Its slices point into the frame, or are decoded copies where the frame
// has escapes: they are valid until the frame's buffer is used again.
type Head struct {
	Kind          Kind   // only an Object has anything below
	Method        []byte // decoded; nil when absent or no string
	ID            []byte // the token as it came, quotes included; nil when absent
	Session       []byte // params.sessionId, decoded; nil when absent or no string
	Update        []byte // params.update.sessionUpdate, decoded; nil when absent or no string
	Result, Error bool   // the key is there at top level
}

// Need says what of a frame must be known besides its method. The zero value: nothing.
type Need uint8

const (
	NeedID Need = 1 << iota
	NeedSession
	NeedUpdate
	needEnd // never met before the frame's end

	All = NeedID | NeedSession | NeedUpdate | needEnd
)

// Peek reads into h the head of the frame that b begins with, or is when whole is true. Keys count in exact case, in any
// order, escapes decoded.
//
// With whole, the frame is walked to its end, the last of duplicate keys wins, known is true, need is not
// asked, and of a frame that is no JSON h has what was found.
//
// Without, Peek asks need as soon as it knows the method (nil: there is none, as result or error came first) and
// stops once what need names is known too, so that the cost does not grow with the frame; of duplicate keys the first that
// settles it wins. Fields that were not needed may be filled or not. Something that is not there is known only when the
// object that could hold it has ended. known is false when b ends too early: call again with more. A nil need is one
// that needs nothing.
//
// Nothing is allocated unless a decoded text had escapes.
func Peek(b []byte, whole bool, need func(method []byte) Need, h *Head) (known bool) {
	*h = Head{}
	i := space(b, 0)
	if i == len(b) {
		return whole
	}
	switch b[i] {
	case '{':
		h.Kind = Object
	case '[':
		h.Kind = Batch
		return true
	default:
		h.Kind = Noise
		return true
	}
	p := peek{b: b, whole: whole, need: need, want: All, h: h}
	return p.frame(i) != short || whole
}

// peek is one call's state.
type peek struct {
	b     []byte
	whole bool
	need  func([]byte) Need
	asked bool // want is need's word
	want  Need
	have  Need
	h     *Head
}

func (p *peek) ask() {
	if p.whole {
		return
	}
	p.asked, p.want = true, 0
	if p.need != nil {
		p.want = p.need(p.h.Method)
	}
}

func (p *peek) enough() bool { return p.want&^p.have == 0 }

// frame, params and update walk one level each, from its opening brace at i, and give its end, or short, broken or enough.

func (p *peek) frame(i int) int {
	m := members{b: p.b, i: i + 1}
	for m.next() {
		at, end := m.i, 0
		switch name := nameOf(m.key); name {
		case nameMethod:
			if p.h.Method, end = text(p.b, at); end > 0 {
				p.ask()
			}
		case nameID:
			if end = skip(p.b, at); end > 0 {
				p.h.ID = p.b[at:end]
				p.have |= NeedID
			}
		case nameParams:
			end = p.params(at)
		case nameResult, nameError:
			p.h.Result = p.h.Result || name == nameResult
			p.h.Error = p.h.Error || name == nameError
			if !p.asked {
				p.ask()
			}
			if p.enough() {
				return enough // a result can be long: stop before it
			}
			end = skip(p.b, at)
		default:
			end = skip(p.b, at)
		}
		if end < 0 {
			return end
		}
		if p.enough() {
			return enough
		}
		m.i = end
	}
	return m.i
}

func (p *peek) params(i int) int {
	p.h.Session, p.h.Update = nil, nil
	if p.b[i] != '{' {
		p.have |= NeedSession | NeedUpdate
		return skip(p.b, i)
	}
	m := members{b: p.b, i: i + 1}
	for m.next() {
		at, end := m.i, 0
		switch nameOf(m.key) {
		case nameSession:
			if p.h.Session, end = text(p.b, at); end > 0 {
				p.have |= NeedSession
			}
		case nameUpdate:
			end = p.update(at)
		default:
			end = skip(p.b, at)
		}
		if end < 0 {
			return end
		}
		if p.enough() {
			return enough
		}
		m.i = end
	}
	p.have |= NeedSession | NeedUpdate
	return m.i
}

func (p *peek) update(i int) int {
	p.h.Update = nil
	if p.b[i] != '{' {
		p.have |= NeedUpdate
		return skip(p.b, i)
	}
	m := members{b: p.b, i: i + 1}
	for m.next() {
		at, end := m.i, 0
		if nameOf(m.key) == nameKind {
			if p.h.Update, end = text(p.b, at); end > 0 {
				p.have |= NeedUpdate
			}
		} else {
			end = skip(p.b, at)
		}
		if end < 0 {
			return end
		}
		if p.enough() {
			return enough
		}
		m.i = end
	}
	p.have |= NeedUpdate
	return m.i
}

// text gives the value at i decoded, nil when it is no string, and its end, or short or broken.
func text(b []byte, i int) (value []byte, end int) {
	end = skip(b, i)
	if end < 0 || b[i] != '"' {
		return nil, end
	}
	value = b[i+1 : end-1]
	if bytes.IndexByte(value, '\\') >= 0 {
		value, _ = unescape(make([]byte, 0, len(value)), value)
	}
	return value, end
}

// A name is a key that Peek knows, at whatever level.
type name uint8

const (
	nameOther name = iota
	nameMethod
	nameID
	nameParams
	nameResult
	nameError
	nameSession
	nameUpdate
	nameKind
)

const longestName = len("sessionUpdate")

func nameOf(key []byte) name {
	n := plainName(key)
	if n != nameOther || bytes.IndexByte(key, '\\') < 0 || len(key) > longestName*len(`\u0000`) {
		return n
	}
	decoded, ok := unescape(make([]byte, 0, longestName*len(`\u0000`)), key)
	if !ok {
		return nameOther
	}
	return plainName(decoded)
}

func plainName(key []byte) name {
	switch string(key) {
	case "method":
		return nameMethod
	case "id":
		return nameID
	case "params":
		return nameParams
	case "result":
		return nameResult
	case "error":
		return nameError
	case "sessionId":
		return nameSession
	case "update":
		return nameUpdate
	case "sessionUpdate":
		return nameKind
	}
	return nameOther
}
