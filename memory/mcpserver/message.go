package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// isStray reports whether a message is neither a request nor a notification, and answers nothing: an error without an
// id.
func isStray(line []byte) bool { m := headOf(line); return m.id() == "" && m.Method == nil }

// A head is what tells the kind of a message.
type head struct {
	ID     json.RawMessage
	Method *string
}

func headOf(line []byte) (m head) {
	if json.Unmarshal(line, &m) != nil {
		return head{}
	}
	return m
}

func (m head) asks() bool    { return m.Method != nil && m.id() != "" }
func (m head) answers() bool { return m.Method == nil && m.id() != "" }

// longLived reports whether a request is answered only when its client cancels it or leaves: Claude Code keeps one open
// for as long as it lives (MCP 2026-07-28). Nothing waits for that answer.
func (m head) longLived() bool { return m.Method != nil && *m.Method == "subscriptions/listen" }

// id returns a message's id in one spelling, because an answer may spell it in another; empty when there is none.
func (m head) id() string {
	var id any
	if json.Unmarshal(m.ID, &id) != nil || id == nil {
		return ""
	}
	same, err := json.Marshal(id)
	if err != nil {
		return ""
	}
	return string(same)
}

// misformed says why JSON is no message, "" if it is one, and gives the id to answer to, where there is one. Keys count
// in their exact case, as in the SDK.
func misformed(line []byte) (id json.RawMessage, why string) {
	var m map[string]json.RawMessage
	switch {
	case line[0] == '[':
		return nil, "send one message a line; batches are not taken"
	case line[0] != '{' || json.Unmarshal(line, &m) != nil:
		return nil, "a message is an object"
	}
	id, hasID := m["id"]
	if hasID && !isID(id) {
		return nil, "an id is a string or a whole number"
	}
	method, hasMethod := m["method"]
	_, hasResult := m["result"]
	fault, hasError := m["error"]
	switch {
	case string(m["jsonrpc"]) != `"2.0"`:
		return id, `a message has "jsonrpc":"2.0"`
	case hasMethod && method[0] != '"':
		return id, "a method is a string"
	case !hasMethod && !hasResult && !hasError:
		return id, "a message has a method, a result or an error"
	case !hasMethod && hasError && !isError(fault):
		return id, "an error is an object with a code and a message"
	}
	return id, ""
}

// isID reports whether a JSON value can be an id that the SDK reads.
func isID(id json.RawMessage) bool {
	var n float64
	return id[0] == '"' || string(id) == "null" || json.Unmarshal(id, &n) == nil
}

// isError reports whether a JSON value can be an error that the SDK reads.
func isError(fault json.RawMessage) bool {
	var e struct {
		Code    int64
		Message string
	}
	return json.Unmarshal(fault, &e) == nil
}

// lastID finds an id among the last members of a message.
var lastID = pattern.New(`,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$`)

// idIn finds the id of a message that is too long to be kept, from its first bytes and its last; nil where it has none.
func idIn(first, last []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(first))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for {
		key, err := dec.Token()
		var value json.RawMessage
		if name, ok := key.(string); err != nil || !ok || dec.Decode(&value) != nil {
			break
		} else if name == "id" && isID(value) {
			return value
		}
	}
	if m := lastID().FindSubmatch(last); m != nil && isID(m[1]) {
		return m[1]
	}
	return nil
}
