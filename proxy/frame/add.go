package frame

import "encoding/json"

// Add returns a copy of line with value as the member at path, every other byte as it was. Objects that are missing on
// the way are made, and null counts as missing. ok is false when the member is there already, when something on the way
// is no object, when line is not Valid, or when value is not one JSON value on one line.
func Add(line, value []byte, path ...string) (edited []byte, ok bool) {
	if !Valid(line) || !insertable(value) {
		return nil, false
	}
	for n := len(path); n >= 0; n-- {
		at, found := lookup(line, path[:n])
		switch {
		case !found:
			continue
		case line[at.Start] == 'n' && n > 0:
			return Replace(line, at, nest(value, path[n:])), true
		case line[at.Start] != '{' || n == len(path):
			return nil, false
		}
		member := nest(value, path[n:])
		member = member[1 : len(member)-1]
		before := ","
		if isEmpty(line, at) {
			before = ""
		}
		return insert(line, at.End-1, before, member, ""), true
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
