package eventlog

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// What a line holds comes back, whatever it is.
func TestLines(t *testing.T) {
	for _, e := range []correlation.Event{
		correlation.AssistantSaid{Turn: 1, Text: "<b> \u2028 \x00 \"quoted\" \n 日本"},
		correlation.ToolUsed{Turn: 1, Tool: correlation.ToolCall{ID: "1", Kind: "read", Locations: []string{"/x"}}},
		correlation.Injected{Session: 1, Injection: correlation.Injection{Kind: "context", Text: "x"}},
		correlation.Erased{},
		correlation.Opened{Session: 1, Open: correlation.OpenSession{Harness: "h", ACPID: "s", New: true}, Fork: 2},
		correlation.Stepped{Session: 1, From: []correlation.State{correlation.Armed},
			Step: correlation.Step{Name: correlation.NothingToTell}},
	} {
		var line bytes.Buffer
		if err := writeLine(&line, queued{n: 7, at: time.UnixMilli(5), event: e}); err != nil {
			t.Fatal(err)
		}
		text := line.Bytes()
		if l, err := parse(text[:len(text)-1]); err != nil || cmp.Diff(e, l.event) != "" || l.n != 7 || l.at.UnixMilli() != 5 {
			t.Errorf("%s: %v %s", text, err, cmp.Diff(e, l.event))
		}
	}
}

// No bytes that stand in a file do harm.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"at":1,"kind":"turn_ended","turn":1,"stop":"end_turn"}`,
		`{"at":1,"kind":"dreamt","session":"x"}`, `{"kind":"assistant_said","text":5}`, "null", "[]", "{}", "\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parse(text)
		if err != nil {
			return
		}
		numbersOf(l.event)
		if err := writeLine(&bytes.Buffer{}, queued{at: l.at, event: l.event}); err != nil {
			t.Errorf("%q was read and cannot be written: %v", text, err)
		}
	})
}
