package frame

import (
	"bytes"
	"strings"
)

// Need is a set: what Peek has to find out besides the method.
type Need uint8

const (
	NeedID Need = 1 << iota
	NeedSession
	NeedUpdate
	needEnd    // known only at the frame's end
	needMethod // in any case

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

// names are the keys that Peek looks for, by the object that has them, the most frequent first.
var names = [...][]struct {
	quoted string
	name   name
}{
	inFrame: {{`"method"`, nameMethod}, {`"params"`, nameParams}, {`"id"`, nameID}, {`"result"`, nameResult},
		{`"error"`, nameError}},
	inParams: {{`"sessionId"`, nameSession}, {`"update"`, nameUpdate}},
	inUpdate: {{`"sessionUpdate"`, nameKind}},
}

// nameAt returns the known key that b starts with, spelled without escapes, and its length with the quotes. It compares
// instead of searching for the key's end: most keys on the way to what Peek wants are known ones.
func nameAt(b []byte, in level) (name, int) {
	for _, key := range names[in] {
		if size := len(key.quoted); len(b) >= size && string(b[:size]) == key.quoted {
			return key.name, size
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
	decoded := decode(key)
	name, size := nameAt(decoded, in)
	if size != len(decoded) { // the key has a quote in it and goes on
		return nameOther
	}
	return name
}

// keyNeeds says what each key has to do with.
var keyNeeds = map[string]Need{
	"method": needMethod, "id": NeedID, "params": NeedSession | NeedUpdate,
	"sessionId": NeedSession, "update": NeedUpdate, "sessionUpdate": NeedUpdate,
}

// lastOfKey has the last letter of each of these keys, and the last digit of that escaped.
const lastOfKey = "dse435"

// mayHoldKey reports whether rest, which begins outside of strings, may hold one more key that has to do with what is
// wanted, at whatever level. It goes from colon to colon: every key is followed by one, and texts have few.
func mayHoldKey(rest []byte, want Need) bool {
	want |= needMethod
	for i := 0; ; i++ {
		n := bytes.IndexByte(rest[i:], ':')
		if n < 0 {
			return false
		}
		i += n
		text, quoted := bytes.CutSuffix(trimSpace(rest[:i]), []byte{'"'})
		if !quoted || len(text) == 0 || strings.IndexByte(lastOfKey, text[len(text)-1]) < 0 {
			continue
		}
		key := text[max(0, len(text)-longestKey):]
		key = key[bytes.LastIndexByte(key, '"')+1:]
		if want&keyNeeds[string(key)] != 0 || bytes.IndexByte(key, '\\') >= 0 {
			return true
		}
	}
}

// A level is an object that Peek looks into.
type level uint8

const (
	inFrame level = iota
	inParams
	inUpdate
)
