package telemetry_test

import (
	"encoding/json"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// Events come once, in order, under the numbers of the conversation.
func TestEventReader(t *testing.T) {
	w := newWorld(t)
	s := w.session("good", "a")
	w.exec(`DELETE FROM events`)
	first, second := w.turn(s, "1"), w.turn(s, "1")
	happens := func(at int64, kind string, turn any, data string) {
		w.exec(`INSERT INTO events (at, kind, process, session, turn, data) VALUES (?, ?, 'p', ?, ?,
			?)`, at, kind, s, turn, data)
	}
	happens(1000, "session_left", nil, `{"session":4,"reason":"<close>"}`)
	happens(2000, "turn_began", first, `{"session":4,"turn":17}`)
	r := telemetry.NewEventReader(w.store.Book(), s)
	look := func(want string) {
		t.Helper()
		all, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(all)
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s, want\n%s", err, got, want)
		}
	}
	look(`[{"at":"1970-01-01T00:00:01Z","kind":"session_left","reason":"\u003cclose\u003e"},` +
		`{"at":"1970-01-01T00:00:02Z","kind":"turn_began","turn":1}]`)
	look(`[]`)
	happens(3000, "turn_began", second, `{"turn":18}`)
	happens(4000, "what_is_new", first, `{"at":"no","deep":{"turn":1}}`)
	look(`[{"at":"1970-01-01T00:00:03Z","kind":"turn_began","turn":2},` +
		`{"at":"1970-01-01T00:00:04Z","kind":"what_is_new","turn":1,"deep":{"turn":1}}]`)
}
