package frame

// A name is a key that Peek knows at its level.
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

// nameAt gives the known key, spelled without escapes, that b starts with, and its size with the quotes. It compares
// rather than look for the key's end: most keys on the way to what Peek wants are known ones.
func nameAt(b []byte, in level) (name, int) {
	switch in {
	case inFrame:
		switch {
		case starts(b, `"method"`):
			return nameMethod, len(`"method"`)
		case starts(b, `"params"`):
			return nameParams, len(`"params"`)
		case starts(b, `"id"`):
			return nameID, len(`"id"`)
		case starts(b, `"result"`):
			return nameResult, len(`"result"`)
		case starts(b, `"error"`):
			return nameError, len(`"error"`)
		}
	case inParams:
		switch {
		case starts(b, `"sessionId"`):
			return nameSession, len(`"sessionId"`)
		case starts(b, `"update"`):
			return nameUpdate, len(`"update"`)
		}
	case inUpdate:
		if starts(b, `"sessionUpdate"`) {
			return nameKind, len(`"sessionUpdate"`)
		}
	}
	return nameOther, 0
}

// longestKey is the length of the longest known key with every letter escaped.
const longestKey = len(`""`) + len("sessionUpdate")*len(`\u0000`)

// escapedName gives the known key that a key with escapes in it, quotes included, spells.
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

func starts(b []byte, with string) bool {
	return len(b) >= len(with) && string(b[:len(with)]) == with
}
