package frame

import "bytes"

// Need is a set: what Peek has to find out besides the method.
type Need uint8

const (
	NeedID Need = 1 << iota
	NeedSession
	NeedUpdate
	needEnd // known only at the frame's end

	All = NeedID | NeedSession | NeedUpdate | needEnd
)

// A name is a key that Peek looks for.
type name uint8

const (
	nameOther name = iota
	nameMethod
	nameID
	nameParams
	nameResult
	nameError
	nameSession
	nameUpdate
	nameKind
)

// nameAt returns the known key that b starts with, spelled without escapes, and its length with the quotes. It compares
// instead of searching for the key's end: most keys on the way to what Peek wants are known ones.
func nameAt(b []byte, in level) (name, int) {
	var padded [len(`"sessionUpdate"`)]byte
	if len(b) < len(padded) {
		copy(padded[:], b)
		b = padded[:]
	}
	key := (*[len(padded)]byte)(b)
	switch in {
	case inFrame:
		switch {
		case string(key[:8]) == `"method"`:
			return nameMethod, 8
		case string(key[:8]) == `"params"`:
			return nameParams, 8
		case string(key[:4]) == `"id"`:
			return nameID, 4
		case string(key[:8]) == `"result"`:
			return nameResult, 8
		case string(key[:7]) == `"error"`:
			return nameError, 7
		}
	case inParams:
		switch {
		case string(key[:11]) == `"sessionId"`:
			return nameSession, 11
		case string(key[:8]) == `"update"`:
			return nameUpdate, 8
		}
	case inUpdate:
		if string(key[:]) == `"sessionUpdate"` {
			return nameKind, len(key)
		}
	}
	return nameOther, 0
}

// longestKey is the length of the longest known key with every letter escaped.
const longestKey = len(`""`) + len("sessionUpdate")*len(`\u0000`)

// escapedName returns the known key that a key with escapes, quotes included, decodes to.
func escapedName(key []byte, in level) name {
	if len(key) > longestKey {
		return nameOther
	}
	decoded, _ := decode(key)
	name, size := nameAt(decoded, in)
	if size != len(decoded) { // the key has a quote in it and goes on
		return nameOther
	}
	return name
}

// mayHoldKey reports whether rest, which begins outside of strings, may hold one more key that has to do with what is
// wanted, at whatever level. It goes from colon to colon: every key is followed by one, and texts have few.
func mayHoldKey(rest []byte, want Need) bool {
	for i := 0; ; i++ {
		n := bytes.IndexByte(rest[i:], ':')
		if n < 0 {
			return false
		}
		i += n
		end := i
		for end > 0 && isSpace(rest[end-1]) {
			end--
		}
		if end > 0 && rest[end-1] == '"' && isWantedKey(rest[:end-1], want) {
			return true
		}
	}
}

// isWantedKey reports whether text, up to a closing quote, ends with a key that may have to do with what is wanted.
func isWantedKey(text []byte, want Need) bool {
	if len(text) == 0 {
		return false
	}
	switch text[len(text)-1] {
	case 'd', 's', 'e', '4', '3', '5': // the last of a key that matters, or the last digit of that escaped
	default:
		return false
	}
	key := text[max(0, len(text)-longestKey):]
	key = key[bytes.LastIndexByte(key, '"')+1:]
	switch string(key) {
	case "method":
		return true
	case "id":
		return want&NeedID != 0
	case "params":
		return want&(NeedSession|NeedUpdate) != 0
	case "sessionId":
		return want&NeedSession != 0
	case "update", "sessionUpdate":
		return want&NeedUpdate != 0
	}
	return bytes.IndexByte(key, '\\') >= 0
}

// A level is an object that Peek looks into.
type level uint8

const (
	inFrame level = iota
	inParams
	inUpdate
)
