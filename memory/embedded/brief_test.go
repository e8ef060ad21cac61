package embedded

import (
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// A prompt that goes on with something is told the digest of that session; one that names nothing those of the last
// two; any other none.
func TestDigestByPrompt(t *testing.T) {
	w := newWorld(t)
	for _, session := range [][]string{
		{"ledger", "Move the ledger to Postgres.", "Where?", "let's store it in the heron schema", "The ledger is moved."},
		{"mast", "Paint the mast of the Curlew green.", "It is green."},
		{"boat", "Repair the hull of the dinghy.", "Next steps:\n- sand it"},
	} {
		w.said("/p", session[0], session[1:]...)
		w.now = w.now.Add(time.Hour)
	}
	for prompt, want := range map[string][]string{
		"continue with the ledger in Postgres": {"Move the ledger to Postgres. / decided: let's store it in the heron schema"},
		"continue":                             {"Repair the hull", "Paint the mast"},
		"hi":                                   nil,
		"what colour has the mast of the Curlew?": nil,
	} {
		c, err := w.Recall(t.Context(), memory.Session{Key: "new", Project: "/p"}, prompt, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range c.Items {
			if strings.HasPrefix(it.Text, "began with: ") {
				got = append(got, it.Text)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%q is told %q", prompt, got)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%q is told %q, want %q", prompt, got[i], want[i])
			}
		}
	}
}

// Tools have changed the files that they edited, deleted or moved, where they did not fail.
func TestChanged(t *testing.T) {
	var got []string
	for _, tool := range []correlation.ToolCall{
		{Kind: "edit", Locations: []string{"/p/a.go", "/q/b.go"}}, {Kind: "edit", Status: "failed", Locations: []string{"/p/c"}},
		{Kind: "read", Locations: []string{"/p/d"}}, {Kind: "delete", Status: "completed", Locations: []string{"/p/x/e"}},
	} {
		got = append(got, Changed([]correlation.ToolCall{tool}, "/p")...)
	}
	if strings.Join(got, " ") != "a.go /q/b.go x/e" {
		t.Errorf("changed: %q", got)
	}
}

// What was learned of a session is counted, and items that stand in the notes of a harness are left out for it alone.
func TestLearnedAndNotes(t *testing.T) {
	w := newWorld(t)
	w.said("/p", "one", "I prefer tabs over spaces in Go.", "Noted.")
	w.add(Memory{Content: "Robin rows on the lake."})
	if got, err := w.LearnedFrom(t.Context(), []int64{1}); err != nil || got != (Learned{Passages: 2, Memories: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := w.LearnedFrom(t.Context(), []int64{2}); err != nil || got != (Learned{}) {
		t.Errorf("of another %+v, %v", got, err)
	}
	own, other := w.add(Memory{Content: "The mast is green.", Session: AgentNotesSession("claude")}), w.add(Memory{Content: "The hull is red."})
	for harness, want := range map[string]int{"claude-code": 1, "codex": 2} {
		items, err := w.withoutOwnNotes(t.Context(), harness, []memory.Item{{ID: own.ID}, {ID: other.ID}})
		if err != nil || len(items) != want || items[want-1].ID != other.ID {
			t.Errorf("%s: %+v, %v", harness, items, err)
		}
	}
}

// Of a turn's tools a brief gets the last check, with how it ended, and what is left of the plan; of its words what was
// settled, given up and asked, and by whom.
func TestRounds(t *testing.T) {
	one := 1
	turns := []correlation.Said{
		{User: "Let's keep the old table.", Harness: "claude", Assistant: "Should we use the queue? " +
			"I recommend the queue.", Tools: []correlation.ToolCall{
			{Kind: "execute", Title: "`go test ./...`", Status: "completed"}, {Kind: "execute", Title: "ls"},
			{Kind: "plan", Steps: []string{"paint"}}, {Kind: "edit", Title: "make test"}}},
		{User: "yes", Harness: "claude", Assistant: "Now I run it.\f\n\nI reverted the queue. Which port do you want?",
			Tools: []correlation.ToolCall{{Kind: "execute", Title: "Test it", Command: "make check", Exit: &one}}},
	}
	rounds := Rounds(turns)
	if r := rounds[0]; r.Check != "`go test ./...`: completed" || !r.Planned || strings.Join(r.Plan, "") != "paint" ||
		strings.Join(r.Decided, "") != "Let's keep the old table." || strings.Join(r.Agreed, "") != "I recommend the queue." ||
		r.Question != "" || r.Asker != "user" || r.Agent != "claude" {
		t.Errorf("%+v", r)
	}
	if r := rounds[1]; r.Check != "`make check`: exit 1" || r.Planned || strings.Join(r.GaveUp, "") != "I reverted the queue." ||
		r.Question != "Which port do you want?" || strings.Join(r.Decided, "") != "asked “Should we use the queue?”: yes" {
		t.Errorf("%+v", r)
	}
	turns[1].User = "Actually, let's not keep the old table."
	if r := Rounds(turns)[0]; len(r.Decided) != 0 || !strings.HasPrefix(strings.Join(r.GaveUp, ""), "Let's keep the old table. / taken back: ") {
		t.Errorf("%+v", r)
	}
	turns[0].ByAgent = true
	if r := Rounds(turns)[0]; len(r.Decided) != 0 || r.Asker != "caller" {
		t.Errorf("%+v", r)
	}
}
