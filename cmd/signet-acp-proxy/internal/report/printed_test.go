package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delivery"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

var update = flag.Bool("update", false, "write testdata/printed.txt anew")

// TestPrinted holds what people are shown of each thing, on a screen of 72 columns and where there is none.
func TestPrinted(t *testing.T) {
	defer func(zone *time.Location) { time.Local = zone }(time.Local)
	time.Local = time.UTC
	t.Setenv("HOME", "/home/robin")
	at := time.Date(2026, 10, 3, 9, 30, 0, 0, time.UTC)
	tokens, cost, verdict := int64(1200), 0.25, -0.5
	asked := delegation.Row{ID: "01K", Agent: "codex", Mode: "edit", Kind: "review", State: delegation.Done,
		Task: "Read\n the tests.", Scope: []string{"tests", "names"}, Kept: []string{"release notes"}, Parent: "acp-1",
		Started: at, Ended: &at, Folder: "/tmp/work/01K",
		Paths: []string{"a.go", "b.go"}, Refused: []string{"fetch x"},
		Result: delegation.Result{Reason: "it is done", Branch: "signet/01K", Verdict: &verdict, Note: "too long",
			Answer: "Two fail.\n\nThe rest holds."}, Usage: delegation.Usage{Turns: 2, Tokens: &tokens, Cost: &cost, Currency: "USD"}}
	working := delegation.Row{ID: "01L", Agent: "gemini", State: "running", Progress: "reading", Started: at,
		Paths: []string{"c.go"}, Usage: delegation.Usage{Turns: 1}}
	listed := func(id, parent string, state correlation.State, live bool) runtime.Listed {
		s := runtime.Listed{Session: correlation.Session{ACPID: id, Harness: "@agentclientprotocol/codex-acp", Cwd: "/home/robin/src/kiln", Turns: 3,
			State: state, Live: live, LastActive: at}, Title: "How hot is the kiln?", Short: id[:4], Parent: parent}
		s.ID = int64(len(id))
		return s
	}
	session := listed("sess-1", "", correlation.Done, true)
	said := []runtime.Entry{
		{Role: runtime.Context, Turn: 1, At: at, Text: "<signet>\nThe kiln.\n</signet>\n",
			ContextFields: &runtime.ContextFields{Source: "embedded", Outcome: "kept"}},
		{Role: runtime.User, Turn: 1, At: at, Text: "How hot?\n  And why?\n" + strings.Repeat("x  y", 17) + "zz"},
		{Role: runtime.Tool, Turn: 1, At: at, Text: "Read kiln.md", ToolFields: &runtime.ToolFields{Status: "completed"}},
		{Role: runtime.Tool, Turn: 1, At: at, Text: "Fire", ToolFields: &runtime.ToolFields{Kind: "edit", Status: "failed",
			Locations: []string{"kiln.md", "a.go"}}},
		{Role: runtime.Assistant, Turn: 1, At: at, Text: "1240 degrees.\n```go\n\tif hot {\n\t\treturn \t1240 // " + strings.Repeat("degrees ", 8) +
			"\n```",
			EndFields: &runtime.EndFields{Stop: "end_turn", Ended: true}},
		{Role: runtime.User, Turn: 2, At: at, Text: "Check it.",
			AskedFields: &runtime.AskedFields{Delegation: "01K", By: "claude"}},
		{Role: runtime.Assistant, Turn: 2, At: at, EndFields: &runtime.EndFields{}},
	}
	shown := runtime.Shown{Row: session.Row(), Keys: []string{"acp-0", "acp-1"}, Delegation: &asked,
		Delegated: []delegation.Row{working}, Warnings: []string{"disk is full", "old"}}
	shown.AgentVersion, shown.Client, shown.ClientVersion = "0.9", "zed", "1.2"
	shown.SignetSessionKey, shown.ACPXRecordID, shown.AgentID, shown.ParentSessionKey = "acp-1", "rec-1", "alto", "acp-9"
	shown.Continues, shown.ContinuedBy, shown.Project, shown.Started = "sess-0", "sess-2", "/src/kiln", at
	if err := json.Unmarshal([]byte(`{"injections": [{"kind": "context", "source": "embedded", "outcome": "kept", "bytes": 9,
		"fetchMs": 4, "heldMs": 6, "items": ["a", "file:kiln.md"], "at": "2026-10-03T09:30:00Z"}],
		"files": [{"path": "kiln.md", "did": "edited"}, {"path": "a.go", "did": "read"}],
		"told": [{"item": "file:kiln.md", "kind": "file", "was": "used"},
			{"item": "01A", "kind": "words", "was": "no use seen", "text": "It is hot."}, {"item": "01B", "kind": "rule", "was": "repeated"}],
		"deliveries": [
		{"kind": "daemon", "state": "done", "attempts": 1, "turns": 3, "owed": "2026-10-03T09:30:00Z", "reply": "taken", "made": "2 dead"},
		{"kind": "hook", "state": "owed", "owed": "2026-10-03T09:30:00Z", "reply": "no", "error": "refused"},
		{"kind": "daemon", "state": "dead", "owed": "2026-10-03T09:30:00Z", "error": "`+delivery.KeptByDaemon+`"}]}`),
		&shown); err != nil {
		t.Fatal(err)
	}
	db, _, remove := correlationtest.Open()
	defer remove()
	d := &runtime.Data{DB: db, Sessions: correlation.New(db, correlation.Options{}),
		Memories: embedded.New(db, embedded.Options{})}
	number := func(n int64) *int64 { return &n }
	var std term.Streams
	result := func(d delegation.Row, repeated, running bool) func(term.Screen) error {
		return func(term.Screen) error {
			return Delegated(runtime.Delegated{Row: d, Repeated: repeated, Running: running}, std)
		}
	}
	dropped, kept := asked, asked
	dropped.Branch, dropped.Folder, dropped.State = "", "", "stopped"
	kept.Branch = ""
	var got bytes.Buffer
	for _, width := range []int{0, 72} {
		for _, one := range []struct {
			name  string
			print func(s term.Screen) error
		}{
			{"a conversation", func(s term.Screen) error { return Conversation(session, said, shown.Files, s) }},
			{"no conversation", func(s term.Screen) error { return Conversation(session, nil, nil, s) }},
			{"an entry", func(s term.Screen) error { return Said(said[1], session, s) }},
			{"agents", func(s term.Screen) error {
				return Agents([]delegation.Agent{
					{ID: "codex", Status: "ready", Capabilities: []string{"review", "go"}, Bounds: "the system"},
					{ID: "pi", Status: "busy", Session: "sess-2", Fix: "wait"}, {ID: "goose", Status: "missing", Fix: "install it"},
				}, s)
			}},
			{"delegations", func(s term.Screen) error { return Delegations([]delegation.Row{asked, working}, s) }},
			{"a delegation that is done", func(s term.Screen) error { return Doing(asked, s) }},
			{"a delegation that goes on", func(s term.Screen) error { return Doing(working, s) }},
			{"at work", func(s term.Screen) error {
				return AtWork([]delegation.Row{asked, working}, working.Started.Add(90*time.Second), s)
			}},
			{"nobody at work", func(s term.Screen) error { return AtWork([]delegation.Row{asked}, at, s) }},
			{"a delegation", func(s term.Screen) error {
				Delegation(runtime.ShownDelegation{Row: asked, DiffStat: " a.go | 2 +-", Applied: true}, s)
				return nil
			}},
			{"a delegation with changes", func(s term.Screen) error {
				Delegation(runtime.ShownDelegation{Row: working, DiffStat: " c.go | 1 +"}, s)
				return nil
			}},
			{"a result", result(asked, true, false)}, {"a result in a folder", result(kept, false, false)},
			{"a result that failed", result(dropped, false, false)}, {"a detached one", result(working, false, true)},
			{"a session", func(s term.Screen) error { return Session(shown, s) }},
			{"a session of nothing", func(s term.Screen) error { return Session(runtime.Shown{}, s) }},
			{"sessions", func(s term.Screen) error {
				return Sessions([]runtime.Listed{session, listed("sess-12", "sess-1", correlation.Armed, false),
					listed("sess-123", "sess-12", correlation.Doubt, false), listed("sess-1234", "", "odd", false)}, s)
			}},
			{"settings", func(s term.Screen) error {
				return Settings([]config.ShownSetting{{Name: "hold", Value: "1.5s", Source: "default", Environment: "HOLD"}}, s)
			}},
			{"a diff", func(s term.Screen) error { return Diff("--- a\n+++ b\r\n x\n", s) }},
			{"usage by project", func(s term.Screen) error {
				return Usage([]telemetry.Sum{{Key: "/home/robin/src/kiln", Sessions: 2, Turns: 5, Counted: 4,
					InputTokens: number(900), OutputTokens: number(80), MemoryBytes: 2048}, {Key: ""}}, telemetry.ByProject, s)
			}},
			{"an event", func(s term.Screen) error {
				return Event(telemetry.Event{At: at, Kind: "turn_began", Turn: 2}, s)
			}},
			{"an event with fields", func(s term.Screen) error {
				return Event(telemetry.Event{At: at, Kind: "tool_used", Data: map[string]json.RawMessage{"ms": []byte(`12`), "title": []byte(`"x\"y"`),
					"tool": []byte(`{"status":"failed","locations":["a.go","b.go"]}`), "none": []byte(`null`), "empty": []byte(`{"a":""}`),
					"odd": []byte(`[1,"x"]`)}}, s)
			}},
			{"rules", func(term.Screen) error {
				return Memories(t.Context(), nil, std, []embedded.Memory{{ID: "m1", Content: "Lower case.", Created: at, Said: 3,
					Scope: "go", Project: "/src/kiln"}, {ID: "m2", Content: "Short.", Created: at, Said: 1, Personal: true}, {ID: "m3"}})
			}},
			{"a memory", func(term.Screen) error {
				old := embedded.Memory{ID: "m0", Content: "1220 degrees.", Created: at}
				return Memory(t.Context(), d, std, embedded.Memory{ID: "m1", Content: "1240\n degrees.", Type: "fact", Project: "/src/kiln",
					Personal: true, Who: memory.Typed, Source: "turn", Harness: "@zed-industries/claude-code-acp", Session: "acp-1", Tags: "a,b", Context: "heat",
					Importance: 0.5, Rating: -0.25, Ratings: 2, Created: at, Updated: at.Add(time.Hour)}, []embedded.Memory{old})
			}},
			{"a memory of nobody", func(term.Screen) error { return Memory(t.Context(), d, std, embedded.Memory{ID: "m2"}, nil) }},
			{"no notes", func(term.Screen) error { return AgentNotes(nil, std) }},
			{"notes", func(term.Screen) error {
				return AgentNotes([]runtime.AgentNoteRow{{ID: "n1", Agent: "claude", Project: "/src/kiln", Content: "1240 degrees",
					File: "/home/robin/src/kiln/a/long/way/down/CLAUDE.md", Line: 3}, {ID: "n2"}}, std)
			}},
			{"nothing injected", func(term.Screen) error { return Injected(nil, session.Session, std) }},
			{"injected", func(term.Screen) error {
				return Injected([]correlation.Injection{{Text: "one\n"}, {Text: "two"}}, session.Session, std)
			}},
		} {
			var out bytes.Buffer
			std = term.Streams{Out: &out, Err: &out}
			err := one.print(term.Screen{W: &out, Width: width})
			fmt.Fprintf(&got, "== %s, %d columns, error: %v\n%s\n", one.name, width, err, out.Bytes())
		}
	}
	text := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `).ReplaceAll(got.Bytes(), []byte("15:04:05 "))
	const file = "testdata/printed.txt"
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("(-want +got), or go test -run TestPrinted -update:\n%s", diff)
	}
}
