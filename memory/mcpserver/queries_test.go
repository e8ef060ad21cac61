package mcpserver

import (
	"encoding/json"
	"testing"
)

func TestMerged(t *testing.T) {
	replies := []json.RawMessage{json.RawMessage(`{"results":[{"id":"a"},{"id":"b"}],"count":2,"x":1}`),
		json.RawMessage(`{"results":[{"id":"b"},{"id":"c"},{"id":"d"}],"count":3}`)}
	for most, want := range map[int]string{10: `{"count":4,"results":[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}],"x":1}`,
		2: `{"count":2,"results":[{"id":"a"},{"id":"b"}],"x":1}`} {
		if got, err := merged(replies, most); err != nil || string(got) != want {
			t.Errorf("%d: %s, %v", most, got, err)
		}
	}
	if _, err := merged([]json.RawMessage{json.RawMessage(`[]`), nil}, 1); err == nil {
		t.Error("no object is merged")
	}
}
