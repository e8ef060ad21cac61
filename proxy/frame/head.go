package frame

import "bytes"

// A kind says what a line starts with.
type kind uint8

const (
	blank  kind = iota // white space only
	Object             // {
	batch              // [
	Noise              // anything else: no JSON-RPC
)

// A Head is what routing needs to know of a frame. Its slices point into the frame, or are decoded copies where the
// frame has escapes: they are valid until the frame's buffer is used again.
type Head struct {
	Kind          kind   // only an Object has anything below
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
		h.Kind = batch
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
	in      level
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

// object goes through a frame whose first member starts at i, and through the objects in it that matter, in one loop.
// It returns incomplete, broken or stopped.
func (p *peek) object(i int) int {
	for {
		i = space(p.b, i)
		if i < len(p.b) && p.b[i] == ',' {
			i = space(p.b, i+1)
		}
		switch {
		case i >= len(p.b):
			return incomplete
		case p.b[i] == '"':
			i = p.member(i)
		case p.b[i] != '}':
			return broken
		default:
			p.have |= knownAtEnd[p.in]
			if p.in == inFrame {
				return stopped
			}
			p.in--
			i = p.next(i + 1)
		}
		if i < 0 {
			return i
		}
	}
}

// next returns i, or stopped if all is known that is wanted, and nothing from there on can change it.
func (p *peek) next(i int) int {
	switch {
	case p.want&^p.have != 0:
	case p.whole && mayHoldKey(p.b[i:], p.want):
		p.readAll, p.want = true, All
	default:
		return stopped
	}
	return i
}

// member reads the key that starts at i, and its value unless that is an object to look into.
func (p *peek) member(i int) int {
	name, size := nameAt(p.b[i:], p.in)
	if name == nameOther {
		end := closing(p.b, i+1)
		if end < 0 {
			return incomplete
		}
		size = end + 1 - i
		if bytes.IndexByte(p.b[i:end], '\\') >= 0 {
			name = escapedName(p.b[i:end+1], p.in)
		}
	}
	if i = valueAfter(p.b, i+size); i < 0 {
		return i
	}
	switch name {
	case nameParams, nameUpdate:
		in := inUpdate
		if p.h.Update = nil; name == nameParams {
			in, p.h.Session = inParams, nil
		}
		if p.b[i] == '{' {
			p.in = in
			return i + 1
		}
		p.have |= knownAtEnd[in]
	case nameResult, nameError:
		if name == nameResult {
			p.h.Result = true
		} else {
			p.h.Error = p.b[i] != 'n' // a null is none
		}
		if !p.asked {
			p.ask()
		}
		if p.next(i) == stopped { // before the value, which can be long
			return stopped
		}
	}
	end := skip(p.b, i)
	if end < 0 || name == nameOther {
		return end
	}
	p.note(name, p.b[i:end])
	return p.next(end)
}

// note notes the value of a key.
func (p *peek) note(name name, value []byte) {
	var text []byte // nil if it is no string
	if value[0] == '"' {
		text = decode(value[1 : len(value)-1])
	}
	switch name {
	case nameMethod:
		p.h.Method = text
		p.ask()
	case nameID:
		p.h.ID = value
		p.have |= NeedID
	case nameSession:
		p.h.Session = text
		p.have |= NeedSession
	case nameKind:
		p.h.Update = text
		p.have |= NeedUpdate
	}
}
