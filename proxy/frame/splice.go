package frame

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// PrependParts returns line with elem as the first element of an array, every other byte as it was: in parts, of which
// the first and the last are slices of line, because that may be large. array is a span in a valid line, as Find and
// the iterators here return. ok is false when there is no array, or when elem is not one JSON value on one line.
func PrependParts(line, elem []byte, array Span) (parts [][]byte, ok bool) {
	if array.Start >= array.End || line[array.Start] != '[' || !insertable(elem) {
		return nil, false
	}
	after := ","
	if isEmpty(line, array) {
		after = ""
	}
	return [][]byte{line[:array.Start+1], append(bytes.Clone(elem), after...), line[array.Start+1:]}, true
}

// Append returns a copy of line with elem as the last element of the array at path, every other byte as it was. An
// array that is missing, or null, is made, if the object that has to hold it is there. ok is false when something else
// is in its place, when line is not Valid, or when elem is not one JSON value on one line.
func Append(line, elem []byte, path ...string) (edited []byte, ok bool) {
	if !insertable(elem) {
		return nil, false
	}
	if at, ok := Find(line, path...); ok && line[at.Start] == '[' {
		return insert(line, at, elem), true
	}
	if len(path) == 0 {
		return nil, false
	}
	if holder, ok := Find(line, path[:len(path)-1]...); !ok || line[holder.Start] != '{' {
		return nil, false
	}
	return Add(line, slices.Concat([]byte("["), elem, []byte("]")), path...)
}

// Add returns a copy of line with value as the member at path, every other byte as it was. Objects that are missing on
// the way are made, and null counts as missing. ok is false when the member is there already, when something on the way
// is no object, when line is not Valid, or when value is not one JSON value on one line.
func Add(line, value []byte, path ...string) (edited []byte, ok bool) {
	if !insertable(value) {
		return nil, false
	}
	for n := len(path); n >= 0; n-- {
		at, found := Find(line, path[:n]...)
		switch {
		case !found:
			continue
		case line[at.Start] == 'n' && n > 0:
			return Replace(line, at, nest(value, path[n:])), true
		case line[at.Start] != '{' || n == len(path):
			return nil, false
		}
		member := nest(value, path[n:])
		return insert(line, at, member[1:len(member)-1]), true
	}
	return nil, false
}

// nest wraps a value in an object for each key, the first outermost.
func nest(value []byte, keys []string) []byte {
	for i := len(keys) - 1; i >= 0; i-- {
		key, err := json.Marshal(keys[i])
		if err != nil { // a string always encodes
			return nil
		}
		value = append(append(append(append([]byte{'{'}, key...), ':'), value...), '}')
	}
	return value
}

// CutString returns a copy of line without the first n bytes of the text of a string token. The bytes are counted in
// the text as String decodes it; the rest of the text keeps its spelling. ok is false when the text has fewer bytes,
// when n falls inside of a character, when the span is no string token, or when line is not Valid.
func CutString(line []byte, token Span, n int) (edited []byte, ok bool) {
	if token.Start < 0 || token.Start >= token.End || token.End > len(line) || line[token.Start] != '"' {
		return nil, false
	}
	if stringEnd(line[:token.End], token.Start+1) != token.End || !Valid(line) {
		return nil, false
	}
	start := token.Start + 1
	i := start
	for n > 0 && i < token.End-1 {
		text := line[i : token.End-1]
		r, size := utf8.DecodeRune(text)
		width := size // of the decoded character; a byte that is no UTF-8 stays one byte
		if r == '\\' {
			r, size = escape(text)
			width = utf8.RuneLen(r)
		}
		i += size
		n -= width
	}
	if n != 0 {
		return nil, false
	}
	return Replace(line, Span{start, i}, nil), true
}

// Replace returns a copy of line with other bytes in place of the span, which must lie in line. It checks nothing: the
// caller has to see that the result is JSON.
func Replace(line []byte, at Span, with []byte) []byte {
	return slices.Concat(line[:at.Start], with, line[at.End:])
}

// insertable reports whether elem is one JSON value without a line end, which would end the frame.
func insertable(elem []byte) bool {
	return bytes.IndexByte(elem, '\n') < 0 && Valid(elem)
}

// isEmpty reports whether the array or object at the span has nothing in it.
func isEmpty(line []byte, at Span) bool {
	return space(line, at.Start+1) == at.End-1
}

// insert returns line with elem as the last in the array or object at the span.
func insert(line []byte, at Span, elem []byte) []byte {
	before := ","
	if isEmpty(line, at) {
		before = ""
	}
	end := at.End - 1
	return slices.Concat(line[:end], []byte(before), elem, line[end:])
}
