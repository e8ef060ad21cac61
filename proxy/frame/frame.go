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
//	parts, ok := frame.PrependParts(line, block, "params", "prompt")
//
// Two scanners share the work. The loose one (scan.go) goes by quotes, brackets and commas: it is fast, never wrong
// about valid JSON, and harmless on anything else. The strict one (valid.go) decides what is valid. Whatever is edited,
// or found with Find, has passed the strict one first. Neither recurses.
package frame

// A Span is a half-open range of bytes in a frame.
type Span struct{ Start, End int }

// Of returns the bytes of line that the span covers, without copying them.
func (s Span) Of(line []byte) []byte { return line[s.Start:s.End] }
