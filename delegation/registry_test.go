package delegation

import (
	"testing"
	"time"
)

func TestKindOf(t *testing.T) {
	agents := []Agent{{ID: "codex", Capabilities: []string{"database migrations"}}}
	for task, want := range map[string]string{
		"Please review the parser.":            "review",
		"Reviewing parsers":                    "review",
		"Write tests of the lexer":             "test",
		"Fix the crash in the loader":          "fix",
		"Look at the migrations of a database": "database migrations",
		"Prüfen Sie den Parser":                "review",
		"Zebra":                                "read",
	} {
		if got := kindOf(Request{Task: task, Scope: "zebra", Mode: Read}, agents); got != want {
			t.Errorf("%s: %s, want %s", task, got, want)
		}
	}
}

// Who is asked where nobody is named: capability, then record, never who asks, never who is missing.
func TestBest(t *testing.T) {
	agents := []Agent{
		{ID: "claude", Status: busy, Capabilities: []string{"review"}},
		{ID: "codex", Status: available, Records: []Record{{Kind: "review", Score: 0.4}}},
		{ID: "gemini", Status: missing, Capabilities: []string{"review", "docs"}},
		{ID: "opencode", Status: available},
	}
	for _, tt := range []struct{ kind, caller, want string }{
		{"review", "opencode", "claude"}, {"review", "claude", "codex"}, {"docs", "codex", "opencode"},
		{"docs", "", "codex"},
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

// A verdict counts as it was given, new ones more than old ones, and one is no record.
func TestRecords(t *testing.T) {
	now := time.Now()
	bad := -1.0
	row := func(state State, age time.Duration, verdict *float64) Delegation {
		return Delegation{Agent: "codex", Kind: "review", State: state, Ended: now.Add(-age), Verdict: verdict}
	}
	score := func(past ...Delegation) float64 {
		r := recordsOf("codex", past, now)
		if len(r) == 0 {
			return 0
		}
		return r[0].Score
	}
	one, many := score(row(Done, 0, nil)), score(row(Done, 0, nil), row(Done, 0, nil), row(Done, 0, nil))
	switch {
	case !(0 < one && one < many && many < 0.5):
		t.Errorf("one %v, many %v", one, many)
	case score(row(Done, 0, &bad)) >= 0, score(row(Failed, 0, nil)) >= 0:
		t.Error("what went badly counts as good")
	case score(row(Cancelled, 0, nil)) != 0, score(row(Lost, 0, nil)) != 0:
		t.Error("what others ended counts")
	case score(row(Done, 400*24*time.Hour, &bad), row(Done, 0, nil)) <= 0:
		t.Error("what is old counts like what is new")
	}
}

// Without a verdict a result counts by what its caller did with it.
func TestWorth(t *testing.T) {
	asked := Delegation{ID: "1", Caller: robin, Agent: "codex", Scope: "the parser"}
	other := func(agent, key, scope string) []Delegation {
		return []Delegation{{Agent: agent, Caller: Caller{Key: key}, Scope: scope}}
	}
	for _, tt := range []struct {
		name  string
		after []Delegation
		want  float64
	}{
		{"nothing known", nil, scoreUnknown},
		{"asked of another", other("gemini", robin.Key, " The Parser"), scoreRedone},
		{"asked of the same", other("codex", robin.Key, "the parser"), scoreUnknown},
		{"asked by another", other("gemini", "acp-wren", "the parser"), scoreUnknown},
		{"something else asked", other("gemini", robin.Key, "the lexer"), scoreUnknown},
	} {
		if got := impliedScore(asked, tt.after); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
