// Package frame reads one JSON-RPC frame, a line of JSON, and edits single places of it.
//
// It knows JSON and lines and nothing of what the methods mean. It never decodes and encodes a frame again: an edit is
// a splice, and every byte outside of it stays as it came, odd spacing, number spellings, duplicate keys, invalid UTF-8
// and line ending included. It reads nothing by itself: buffers belong to the caller.
//
//	var h frame.Head
//	if !frame.Peek(buf, whole, need, &h) {
//		// read more, or give up and pass the bytes on
//	}
//	prompt, ok := frame.Find(line, "params", "prompt")
//	parts, ok := frame.PrependParts(line, block, prompt)
//
// Two scanners share the work. The loose one (scan.go) goes by quotes, brackets and commas: it is fast, never wrong
// about valid JSON, and harmless on anything else. The strict one (valid.go) decides what is valid. Whatever is edited,
// or found with Find, has passed the strict one first. Neither recurses.
package frame

import (
	"bytes"
	"iter"
)

// A Span is a half-open range of bytes in a frame.
type Span struct{ Start, End int }

// Of returns the bytes of line that the span covers, without copying them.
func (s Span) Of(line []byte) []byte { return line[s.Start:s.End] }

// Find returns the span of the value at path, a list of object keys. Keys match in exact case with escapes decoded, and
// the last of duplicates wins. Without a path it is the frame's own value, without white space around it. ok is false
// when there is no such value, or line is not Valid.
func Find(line []byte, path ...string) (at Span, ok bool) {
	if !Valid(line) {
		return Span{}, false
	}
	at = Span{space(line, 0), len(bytes.TrimRight(line, " \t\r\n"))}
	for _, want := range path {
		in := at
		ok = false
		for key, value := range Members(line, in) {
			if string(key) == want {
				at, ok = value, true
			}
		}
		if !ok {
			return Span{}, false
		}
	}
	return at, true
}

// Members iterates over an object's members in order, duplicates included: the key, decoded, and the span of the value
// in line. Anything but an object has none. object is a span in a valid line, as Find and the iterators here return.
func Members(line []byte, object Span) iter.Seq2[[]byte, Span] {
	return func(yield func([]byte, Span) bool) {
		if object.Start >= object.End || line[object.Start] != '{' {
			return
		}
		b := line[:object.End]
		for i := space(b, object.Start+1); i < len(b) && b[i] == '"'; {
			end := closing(b, i+1)
			if end < 0 {
				return
			}
			start := valueAfter(b, end+1)
			if start < 0 {
				return
			}
			key := decode(b[i+1 : end])
			if end = skip(b, start); end < 0 || !yield(key, Span{start, end}) {
				return
			}
			if i = space(b, end); i < len(b) && b[i] == ',' {
				i = space(b, i+1)
			}
		}
	}
}

// Elements iterates over the spans in line of an array's elements, in order. Anything but an array has none. array is a
// span in a valid line, as Find and the iterators here return.
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
