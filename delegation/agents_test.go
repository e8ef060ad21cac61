package delegation

import "testing"

func TestKindOf(t *testing.T) {
	agents := []Agent{{ID: "codex", Capabilities: []string{"database migrations"}}, {ID: "claude", Capabilities: []string{"review"}}}
	for task, want := range map[string]string{
		"Please review the parser.":            "review",
		"Reviewing parsers":                    "review",
		"Look at the migrations of a database": "database migrations",
		"Look at the migrations":               "read",
		"Zebra":                                "read",
	} {
		if got := kindOf(Request{Task: task, Scope: "zebra", Mode: Read}, agents); got != want {
			t.Errorf("%s: %s, want %s", task, got, want)
		}
	}
}

// Who is asked where nobody is named: capability, then who is free, never who asks, never who is missing.
func TestBest(t *testing.T) {
	agents := []Agent{
		{ID: "claude", Status: busy, Capabilities: []string{"review"}},
		{ID: "codex", Status: available},
		{ID: "gemini", Status: missing, Capabilities: []string{"review", "docs"}},
		{ID: "cline", Status: byNpx, Capabilities: []string{"migrate"}},
		{ID: "auggie", Status: byNpx},
		{ID: "opencode", Status: available},
	}
	for _, tt := range []struct{ kind, caller, want string }{
		{"review", "opencode", "claude"}, {"review", "claude", "codex"}, {"docs", "codex", "opencode"},
		{"docs", "", "codex"}, {"migrate", "", "cline"},
	} {
		if got, ok := best(agents, tt.kind, tt.caller); got.ID != tt.want || !ok {
			t.Errorf("%s for %s: %s, want %s", tt.kind, tt.caller, got.ID, tt.want)
		}
	}
	if got, ok := best(agents[2:3], "docs", ""); ok {
		t.Errorf("of none that can be started: %s", got.ID)
	}
	if got, _ := best(agents[:1], "docs", "claude"); got.ID != "claude" {
		t.Error("who is alone cannot ask itself")
	}
}
