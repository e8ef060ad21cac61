package frame

import (
	"bytes"
	"iter"
)

// Find gives the span of the value at path, a list of object keys: exact case, escapes decoded, the last of duplicates
// wins. Without a path it is the frame's value, white space around it left out. ok is false when there is no such
// value or line is not Valid.
func Find(line []byte, path ...string) (at Span, ok bool) {
	if !Valid(line) {
		return Span{}, false
	}
	return lookup(line, path)
}

// lookup is Find in a line that is known to be valid. It walks the objects on the path in one pass.
func lookup(line []byte, path []string) (at Span, ok bool) {
	at = Span{space(line, 0), len(bytes.TrimRight(line, " \t\r\n"))}
	if len(path) == 0 {
		return at, true
	}
	m, ok := membersOf(line, at)
	if !ok {
		return Span{}, false
	}
	at, ok = Span{}, false
	for level := 0; ; {
		if !m.next() {
			if level--; level < 0 || m.i < 0 {
				return at, ok
			}
			continue // behind the object, among the members of the one that holds it
		}
		hit, last := sameKey(m.key, path[level]), level == len(path)-1
		if hit {
			at, ok = Span{}, false // what an earlier duplicate held does not count
		}
		if hit && !last && line[m.i] == '{' {
			m.i++
			level++
			continue
		}
		end := skip(m.b, m.i)
		if end < 0 {
			return Span{}, false
		}
		if hit && last {
			at, ok = Span{m.i, end}, true
		}
		m.i = end
	}
}

// sameKey compares a key as it came with one that is decoded.
func sameKey(raw []byte, key string) bool {
	decoded, ok := decode(raw)
	return ok && string(decoded) == key
}

// Members gives an object's members in order, duplicates included: the key, decoded, and the span of the value in
// line. It gives nothing for anything but an object. object is a span of a valid line, as Find and the iterators here
// give it.
func Members(line []byte, object Span) iter.Seq2[string, Span] {
	return func(yield func(string, Span) bool) {
		m, ok := membersOf(line, object)
		for ok && m.next() {
			end := skip(m.b, m.i)
			if end < 0 {
				return
			}
			key, _ := decode(m.key)
			if !yield(string(key), Span{m.i, end}) {
				return
			}
			m.i = end
		}
	}
}

func membersOf(line []byte, object Span) (members, bool) {
	if object.Start >= object.End || line[object.Start] != '{' {
		return members{}, false
	}
	return members{b: line[:object.End], i: object.Start + 1}, true
}

// Elements gives the spans in line of an array's elements, in order. It gives nothing for anything but an array. array
// is a span of a valid line, as Find and the iterators here give it.
func Elements(line []byte, array Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if array.Start >= array.End || line[array.Start] != '[' {
			return
		}
		b := line[:array.End]
		for i := space(b, array.Start+1); i < len(b) && b[i] != ']'; {
			end := skip(b, i)
			if end < 0 || !yield(Span{i, end}) {
				return
			}
			if i = space(b, end); i < len(b) && b[i] == ',' {
				i = space(b, i+1)
			}
		}
	}
}
