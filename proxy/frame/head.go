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

// Peek reads into h the head of the frame that b begins with, or is when whole is true. Keys count in exact case, in
// any order, escapes decoded.
//
// Peek asks need as soon as it knows the method (nil: there is none, as result or error came first, or it is no
// string) and stops once what need names is known too, so that its cost does not grow with the frame. What is not
// there is known when the object that could hold it has ended. Other fields may be filled or not. A nil need needs
// nothing; need may be asked again when a second method comes.
//
// With whole, known is true, and the last of duplicate keys wins: Peek looks over the colons of the rest and reads on
// where a key that matters may stand. Of a frame that is no JSON, h has what was found. Without whole, the first key
// that settles a thing wins, and known is false when b ends before enough is known: call again with more.
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
	i++
	if len(b)-i >= len(version) && string(b[i:i+len(version)]) == version {
		i += len(version)
	}
	return p.object(i) != short || whole
}

// version is what nearly every frame begins with.
const version = `"jsonrpc":"2.0",`

// holds is what is known once an object has ended.
var holds = [...]Need{inFrame: All, inParams: NeedSession | NeedUpdate, inUpdate: NeedUpdate}

// peek is one call's state.
type peek struct {
	b     []byte
	whole bool
	need  func([]byte) Need
	asked bool
	toEnd bool // a key that matters may come again: read everything
	want  Need // All until need was asked
	have  Need
	h     *Head
}

func (p *peek) ask() {
	if p.toEnd {
		return
	}
	p.asked, p.want = true, 0
	if p.need != nil {
		p.want = p.need(p.h.Method)
	}
}

// known reports whether everything is known that is wanted.
func (p *peek) known() bool { return p.want&^p.have == 0 }

// stays reports whether what is known stays so whatever stands behind i. Otherwise everything is wanted from here on.
func (p *peek) stays(i int) bool {
	if p.whole && mayHold(p.b[i:], p.want) {
		p.toEnd, p.want = true, All
		return false
	}
	return true
}

// object walks a frame whose first member starts at i, and the objects in it that count, in one loop. It gives the
// frame's end, or short, broken or enough.
func (p *peek) object(i int) int {
	b, h := p.b, p.h
	in := inFrame
	for {
		// A comma, a key or the end of an object.
		if i = space(b, i); i >= len(b) {
			return short
		}
		if b[i] == ',' {
			if i = space(b, i+1); i >= len(b) {
				return short
			}
		}
		if b[i] == '}' {
			p.have |= holds[in]
			if i++; in == inFrame {
				return i
			}
			if in--; p.known() && p.stays(i) {
				return enough
			}
			continue
		}
		if b[i] != '"' {
			return broken
		}
		name, size := nameAt(b[i:], in)
		if name == nameOther {
			end := closing(b, i+1)
			if end < 0 {
				return short
			}
			size = end + 1 - i
			if bytes.IndexByte(b[i:end], '\\') >= 0 {
				name = escapedName(b[i:end+1], in)
			}
		}
		if i = space(b, i+size); i >= len(b) {
			return short
		}
		if b[i] != ':' {
			return broken
		}
		if i = space(b, i+1); i >= len(b) {
			return short
		}

		// Its value.
		switch name {
		case nameParams:
			h.Session, h.Update = nil, nil
			if b[i] == '{' {
				i, in = i+1, inParams
				continue
			}
			p.have |= holds[inParams]
		case nameUpdate:
			h.Update = nil
			if b[i] == '{' {
				i, in = i+1, inUpdate
				continue
			}
			p.have |= holds[inUpdate]
		case nameResult, nameError:
			h.Result = h.Result || name == nameResult
			h.Error = h.Error || name == nameError
			if !p.asked {
				p.ask()
			}
			if p.known() && p.stays(i) {
				return enough // before the value, which can be long
			}
		}
		start := i
		if b[i] == '"' {
			if i = closing(b, i+1); i < 0 {
				return short
			}
			i++
		} else if i = skip(b, i); i < 0 {
			return i
		}
		switch name {
		case nameOther:
			continue
		case nameMethod:
			h.Method = text(b[start:i])
			p.ask()
		case nameID:
			h.ID = b[start:i]
			p.have |= NeedID
		case nameSession:
			h.Session = text(b[start:i])
			p.have |= NeedSession
		case nameKind:
			h.Update = text(b[start:i])
			p.have |= NeedUpdate
		}
		if p.known() && p.stays(i) {
			return enough
		}
	}
}

// text decodes a value, nil when it is no string.
func text(token []byte) []byte {
	if token[0] != '"' {
		return nil
	}
	decoded, _ := decode(token[1 : len(token)-1])
	return decoded
}
