package frame

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strings"
)

// maxDepth is how deeply arrays and objects may nest, as in encoding/json.
const maxDepth = 10000

// Valid reports whether line is one JSON value (RFC 8259) with nothing but white space around it. Like json.Valid it
// accepts strings that are not UTF-8, and rejects more than 10,000 levels of nesting. It looks at eight bytes of a
// string at once: json.Valid takes 4 times as long for a text with many escapes, 14 times for one without.
func Valid(line []byte) bool {
	var room [64]byte
	open := room[:0] // what closes the arrays and objects that are open
	for i := space(line, 0); i < len(line); {
		// A value starts at i.
		opened := line[i] == '{' || line[i] == '['
		switch {
		case !opened:
			if i = scalarEnd(line, i); i < 0 {
				return false
			}
		case len(open) == maxDepth:
			return false
		default:
			open = append(open, line[i]+2) // in ASCII each closes two behind what opens it
			i++
		}

		// Close what ends here, then go on to the next value.
		for i = space(line, i); len(open) > 0 && i < len(line) && line[i] == open[len(open)-1]; i = space(line, i+1) {
			open, opened = open[:len(open)-1], false
		}
		if len(open) == 0 {
			return i == len(line)
		}
		if !opened {
			if i == len(line) || line[i] != ',' {
				return false
			}
			i = space(line, i+1)
		}
		if open[len(open)-1] == '}' {
			if i = keyEnd(line, i); i < 0 {
				return false
			}
		}
	}
	return false
}

// scalarEnd returns the end of the string, number or literal that starts at i, -1 if it is not valid.
func scalarEnd(line []byte, i int) int {
	if line[i] == '"' {
		return stringEnd(line, i+1)
	}
	start := i
	for i < len(line) && strings.IndexByte(",]} \t\r\n", line[i]) < 0 {
		i++
	}
	if !json.Valid(line[start:i]) {
		return -1
	}
	return i
}

// keyEnd returns the index of the value whose key starts at i, -1 if there is no key.
func keyEnd(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	if i = stringEnd(b, i+1); i < 0 {
		return -1
	}
	if i = space(b, i); i >= len(b) || b[i] != ':' {
		return -1
	}
	return space(b, i+1)
}

// stringEnd returns the index after the closing quote of the string whose text starts at i, -1 if it is not valid.
func stringEnd(b []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for i < len(b) {
		if len(b)-i >= 8 {
			// special has the top bit of the lowest of eight bytes that is a quote, a backslash or a control character.
			// Bytes above that one may be marked wrongly, bytes below it never are.
			x := binary.LittleEndian.Uint64(b[i:])
			quote, slash := x^ones*'"', x^ones*'\\'
			special := ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
			if special == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(special) / 8
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			_, size := escape(b[i:])
			if size == 0 {
				return -1
			}
			i += size
		case c < ' ':
			return -1
		default:
			i++
		}
	}
	return -1
}
