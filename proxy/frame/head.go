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

// A Head is what routing needs to know of a frame. Its slices point into the frame, or are decoded copies where the
// frame has escapes: they are valid until the frame's buffer is used again.
type Head struct {
	Kind          Kind   // only an Object has anything below
	Method        []byte // decoded; nil: there is none, or it is no string
	ID            []byte // the token as it came, quotes included; nil: there is none
	Session       []byte // params.sessionId, decoded; nil as with Method
	Update        []byte // params.update.sessionUpdate, decoded; nil as with Method
	Result, Error bool   // the key is there at top level; an error that is null is none
}

// Peek reads the head of a frame into h. b is the frame's beginning, or all of it if whole is true. Keys match in exact
// case, in any order, with escapes decoded.
//
// Peek calls need as soon as it knows the method, and stops once what need has named is known too, so that its cost
// does not grow with the frame. The method is nil if it is no string, or if result or error comes first. That something
// is missing is known when the object that could hold it has ended. Other fields may be set or not. A nil need needs
// nothing. need is called again if a second method comes.
//
// With whole, known is always true, and the last of duplicate keys wins: Peek searches the rest for colons, and reads
// on if one may follow a key that matters. If the frame is not JSON, h has what was found. Without whole, the first of
// duplicate keys may win, and known is false when b ends before enough is known: call again with more.
//
// Peek allocates nothing, unless a text has escapes to decode.
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
	return p.object(i) != incomplete || whole
}

// version is what nearly every frame begins with.
const version = `"jsonrpc":"2.0",`

// knownAtEnd is what is known once an object of a level has ended.
var knownAtEnd = [...]Need{inFrame: All, inParams: NeedSession | NeedUpdate, inUpdate: NeedUpdate}

// peek is one call's state.
type peek struct {
	b       []byte
	whole   bool
	need    func([]byte) Need
	asked   bool // need was called
	readAll bool // a key that matters may come again: everything is wanted
	want    Need // All until need was called
	have    Need
	h       *Head
}

func (p *peek) ask() {
	if p.readAll {
		return
	}
	p.asked, p.want = true, 0
	if p.need != nil {
		p.want = p.need(p.h.Method)
	}
}

// known reports whether everything is known that is wanted.
func (p *peek) known() bool { return p.want&^p.have == 0 }

// settledAfter reports whether nothing after i can change what is known. If something may, everything is wanted from
// here on.
func (p *peek) settledAfter(i int) bool {
	if p.whole && mayHoldKey(p.b[i:], p.want) {
		p.readAll, p.want = true, All
		return false
	}
	return true
}

// object goes through a frame whose first member starts at i, and through the objects in it that matter, in one loop.
// It returns the frame's end, or incomplete, broken or stopped.
func (p *peek) object(i int) int {
	b, h := p.b, p.h
	in := inFrame
	for {
		// A comma, a key or the end of an object.
		if i = space(b, i); i >= len(b) {
			return incomplete
		}
		if b[i] == ',' {
			if i = space(b, i+1); i >= len(b) {
				return incomplete
			}
		}
		if b[i] == '}' {
			p.have |= knownAtEnd[in]
			if i++; in == inFrame {
				return i
			}
			if in--; p.known() && p.settledAfter(i) {
				return stopped
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
				return incomplete
			}
			size = end + 1 - i
			if bytes.IndexByte(b[i:end], '\\') >= 0 {
				name = escapedName(b[i:end+1], in)
			}
		}
		if i = space(b, i+size); i >= len(b) {
			return incomplete
		}
		if b[i] != ':' {
			return broken
		}
		if i = space(b, i+1); i >= len(b) {
			return incomplete
		}

		// Its value.
		switch name {
		case nameParams:
			h.Session, h.Update = nil, nil
			if b[i] == '{' {
				i, in = i+1, inParams
				continue
			}
			p.have |= knownAtEnd[inParams]
		case nameUpdate:
			h.Update = nil
			if b[i] == '{' {
				i, in = i+1, inUpdate
				continue
			}
			p.have |= knownAtEnd[inUpdate]
		case nameResult, nameError:
			h.Result = h.Result || name == nameResult
			if name == nameError {
				h.Error = b[i] != 'n' // a null is none
			}
			if !p.asked {
				p.ask()
			}
			if p.known() && p.settledAfter(i) {
				return stopped // before the value, which can be long
			}
		}
		start := i
		if b[i] == '"' {
			if i = closing(b, i+1); i < 0 {
				return incomplete
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
		if p.known() && p.settledAfter(i) {
			return stopped
		}
	}
}

// text decodes a value; nil if it is no string.
func text(token []byte) []byte {
	if token[0] != '"' {
		return nil
	}
	decoded, _ := decode(token[1 : len(token)-1])
	return decoded
}
