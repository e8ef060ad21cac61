package frame

import "bytes"

// What the loose scanner returns where it has no index to return.
const (
	incomplete = -1 // the bytes end before the value does
	broken     = -2 // this is no JSON
	stopped    = -3 // all that was wanted is known (Peek only)
)

// space returns the index of the first byte at or after i that is no white space, len(b) if there is none.
func space(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool {
	return c <= ' ' && (c == ' ' || c == '\t' || c == '\r' || c == '\n')
}

// closing returns the index of the quote that ends the string whose text starts at i, or incomplete.
func closing(b []byte, i int) int {
	for from := i; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return incomplete
		}
		end := from + n
		if b[end-1] != '\\' { // at least the opening quote is before it
			return end
		}
		run := end // start of the backslashes before the quote; an odd number escapes it
		for run > i && b[run-1] == '\\' {
			run--
		}
		if (end-run)%2 == 0 {
			return end
		}
		from = end + 1
	}
}

// valueAfter returns the start of the value of the key that ends at i, or incomplete or broken.
func valueAfter(b []byte, i int) int {
	if i = space(b, i); i < len(b) && b[i] != ':' {
		return broken
	}
	if i = space(b, i+1); i >= len(b) {
		return incomplete
	}
	return i
}

// The classes of bytes that count in a value that is skipped.
const (
	opens byte = 1 + iota
	closes
	quotes
)

var bracket = [256]byte{'{': opens, '[': opens, '}': closes, ']': closes, '"': quotes}

// skip returns the end of the value that starts at i < len(b), or incomplete or broken. It counts brackets of both
// kinds alike, so that it needs no stack. A number or literal has ended only when a byte follows that cannot be part of
// it.
func skip(b []byte, i int) int {
	if class := bracket[b[i]]; class != opens && class != quotes {
		for j := i; j < len(b); j++ {
			switch b[j] {
			case ',', ']', '}', ' ', '\t', '\r', '\n':
				if j == i {
					return broken
				}
				return j
			case '"', ':', '[', '{':
				return broken
			}
		}
		return incomplete
	}
	for depth := 0; i < len(b); i++ {
		switch bracket[b[i]] {
		case opens:
			depth++
		case closes:
			depth--
		case quotes:
			if i = closing(b, i+1); i < 0 {
				return incomplete
			}
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return incomplete
}
