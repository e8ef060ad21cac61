package frame

import (
	"encoding/binary"
	"math/bits"
)

// maxDepth is how deeply arrays and objects may nest, as in encoding/json.
const maxDepth = 10000

// Valid reports whether line is one JSON value (RFC 8259) with nothing but white space around it. Like json.Valid it
// accepts strings that are not UTF-8, and rejects more than 10,000 levels of nesting.
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
	switch line[i] {
	case '"':
		return stringEnd(line, i+1)
	case 't':
		return literalEnd(line, i, "true")
	case 'f':
		return literalEnd(line, i, "false")
	case 'n':
		return literalEnd(line, i, "null")
	}
	return numberEnd(line, i)
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
	for i < len(b) {
		if len(b)-i >= 8 {
			special := specials(binary.LittleEndian.Uint64(b[i:]))
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

// specials sets the top bit of the lowest of eight bytes that is a quote, a backslash or a control character. Bytes
// above that one may be marked wrongly, bytes below it never are.
func specials(x uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := x^ones*'"', x^ones*'\\'
	return ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
}

func literalEnd(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func numberEnd(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = digitsEnd(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = digitsEnd(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digitsEnd(b, i)
	}
	return i
}

// digitsEnd returns the end of the digits that start at i, -1 if there are none.
func digitsEnd(b []byte, i int) int {
	start := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
