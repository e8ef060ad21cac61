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
	var objects [maxDepth/64 + 1]uint64 // a bit for each open level: set for an object, clear for an array
	depth := 0
	i := space(line, 0)
	for {
		// A value starts at i.
		if i >= len(line) {
			return false
		}
		opened := false
		switch c := line[i]; c {
		case '{', '[':
			if depth == maxDepth {
				return false
			}
			if bit := uint64(1) << (depth % 64); c == '{' {
				objects[depth/64] |= bit
			} else {
				objects[depth/64] &^= bit
			}
			depth++
			opened = true
			i++
		case '"':
			i = stringEnd(line, i+1)
		case 't':
			i = literalEnd(line, i, "true")
		case 'f':
			i = literalEnd(line, i, "false")
		case 'n':
			i = literalEnd(line, i, "null")
		default:
			i = numberEnd(line, i)
		}
		if i < 0 {
			return false
		}

		// Close what ends here, then go on to the next value.
		for {
			i = space(line, i)
			if depth == 0 {
				return i == len(line)
			}
			if i == len(line) {
				return false
			}
			object := objects[(depth-1)/64]>>((depth-1)%64)&1 == 1
			if c := line[i]; c == '}' && object || c == ']' && !object {
				depth--
				opened = false
				i++
				continue
			}
			if !opened {
				if line[i] != ',' {
					return false
				}
				i = space(line, i+1)
			}
			if object {
				i = keyEnd(line, i)
				if i < 0 {
					return false
				}
			}
			break
		}
	}
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
