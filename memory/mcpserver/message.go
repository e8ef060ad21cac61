package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/Signet-AI/signet-acp-proxy/memory/pattern"
)

// decode reads a message as the SDK does, which ends the connection over a line that it cannot read. It returns nil for
// an answer to nothing, such as an error without an id.
func decode(line []byte) (jsonrpc.Message, error) {
	switch line[0] {
	case '{':
	case '[':
		return nil, errors.New("send one message per line; batches are not supported")
	default:
		return nil, errors.New("a message must be an object")
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err == nil {
		return m, nil
	}
	var answer struct{ Method, ID, Result, Error json.RawMessage }
	noID := json.Unmarshal(line, &answer) == nil && (answer.ID == nil || string(answer.ID) == "null")
	if noID && answer.Method == nil && (answer.Result != nil || answer.Error != nil) {
		return nil, nil
	}
	return nil, err
}

// asks reports whether a message waits for an answer. The SDK answers subscriptions/listen only when its client cancels
// it or leaves: Claude Code keeps one open for as long as it lives (MCP 2026-07-28), and nothing waits for that answer.
func asks(m jsonrpc.Message) (id jsonrpc.ID, asks bool) {
	request, ok := m.(*jsonrpc.Request)
	if !ok {
		return id, false
	}
	return request.ID, request.IsCall() && request.Method != "subscriptions/listen"
}

// idOf returns the id of what is no message, null where it has none.
func idOf(line []byte) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) == nil && isID(m["id"]) {
		return m["id"]
	}
	return json.RawMessage("null")
}

// isID reports whether a JSON value can be an id that the SDK reads.
func isID(id json.RawMessage) bool {
	var value any
	if json.Unmarshal(id, &value) != nil {
		return false
	}
	_, err := jsonrpc.MakeID(value)
	return err == nil
}

// lastID finds an id among the last members of a message.
var lastID = pattern.New(`,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*\}\s*$`)

// idIn finds the id of a message that is too long to be kept, from its first bytes and its last; null where it has
// none.
func idIn(first, last []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(first))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return json.RawMessage("null")
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
	return json.RawMessage("null")
}
