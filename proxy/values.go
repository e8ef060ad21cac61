package proxy

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
)

// stringAt returns the decoded string at a path.
func stringAt(b []byte, path ...string) (string, bool) {
	at, ok := frame.Find(b, path...)
	if !ok {
		return "", false
	}
	return frame.String(at.Of(b))
}

// intAt returns the number at a path.
func intAt(b []byte, path ...string) (n int, ok bool) {
	at, ok := frame.Find(b, path...)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(string(at.Of(b)))
	return n, err == nil
}

// quote encodes text as a JSON string.
func quote(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil { // a string always encodes
		return []byte(`""`)
	}
	return b
}

// add adds a member to an object in a frame, unless it is there.
func add(line, value []byte, path ...string) []byte {
	if edited, ok := frame.Add(line, value, path...); ok {
		return edited
	}
	return line
}

// idKey returns a request id in a form in which equal ids are equal strings: a peer may spell a number or a string
// differently when it answers. A string never equals a number.
func idKey(token []byte) string {
	if len(token) > 0 && token[0] == '"' {
		if s, ok := frame.String(token); ok {
			return `"` + s
		}
	}
	if bytes.ContainsAny(token, ".eE") {
		if f, err := strconv.ParseFloat(string(token), 64); err == nil {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return string(token)
}

// answerable reports whether a message with this id is a request that will be answered: not if the id is null or
// missing.
func answerable(id []byte) bool { return len(id) > 0 && !bytes.Equal(id, []byte("null")) }

// switchesOff reports whether a request's _meta switches memory off for its session.
func switchesOff(line []byte) bool {
	at, ok := frame.Find(line, "params", "_meta", "signet.ai", "inject")
	return ok && bytes.Equal(at.Of(line), []byte("false"))
}
