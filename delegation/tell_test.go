package delegation

import (
	"strings"
	"testing"
)

// What a child is told while it works it gets in its turn, or else as its next prompt, and its answer has both; what came
// too late is said.
func TestTell(t *testing.T) {
	for name, tt := range map[string]struct {
		fault, steer, asked, refused string
		state                        State
		turns                        int
	}{
		"works":            {"", "", opening + "session/prompt session/prompt", "", Done, 2},
		"takes it at once": {"", "1", opening + "session/prompt _session/steering", "", Done, 1},
		"takes it late":    {"", "late", opening + "session/prompt _session/steering session/prompt", "", Done, 2},
		"fails":            {"1:-32603", "", opening + "session/prompt", "it ended before this prompt: And the grebe.", Failed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			t.Setenv("ECHOAGENT_FAIL", tt.fault)
			t.Setenv("ECHOAGENT_STEER", tt.steer)
			service := &Service{Ledger: s.Ledger}
			person := Caller{Cwd: s.dir, Person: true}
			d := s.must(t, person, Request{Agent: "codex", Task: "Look.", Scope: "heron.txt", Kept: "the release"})
			for _, text := range []string{"And the grebe.", " password=hunter2hunter2 "} {
				if _, err := service.Tell(t.Context(), person, d.ID, text); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := service.Tell(t.Context(), person, d.ID, " <private>x</private> "); err == nil {
				t.Error("told nothing")
			}
			if err := s.Run(t.Context(), d.ID, "Look."); err != nil {
				t.Fatal(err)
			}
			d, err := s.Get(t.Context(), d.ID)
			if err != nil || d.State != tt.state || d.Usage.Turns != tt.turns || s.requests() != tt.asked ||
				!strings.HasPrefix(strings.Join(d.Refused, "; "), tt.refused) || (len(d.Refused) == 0) != (tt.refused == "") {
				t.Errorf("%+v, %v", d, err)
			}
			if tt.state == Done && (!strings.Contains(d.Answer, "> Look.") || !strings.Contains(d.Answer, "> And the grebe.") ||
				strings.Contains(d.Answer, "hunter2")) {
				t.Errorf("answer: %s", d.Answer)
			}
			if _, err := service.Tell(t.Context(), person, d.ID, "Late."); err == nil || !strings.Contains(err.Error(), "continues: "+d.ID) {
				t.Errorf("after its end: %v", err)
			}
		})
	}
}

// A child that leaves is told nothing any more, and so many words wait.
func TestWords(t *testing.T) {
	l := newLedger(t)
	d := l.must(t, robin, want(1))
	for i := range maxWords + 1 {
		if done, err := l.addWord(t.Context(), d.ID, word{"claude", "x"}); done != (i < maxWords) || err != nil {
			t.Errorf("word %d: %t, %v", i, done, err)
		}
	}
	for _, n := range []int{maxWords, 0, 0} {
		if words, err := l.takeWords(t.Context(), d.ID, n == 0); len(words) != n || err != nil {
			t.Errorf("%d words, %v, want %d", len(words), err, n)
		}
	}
	if done, err := l.addWord(t.Context(), d.ID, word{"", "late"}); done || err != nil {
		t.Errorf("after it left: %t, %v", done, err)
	}
	text := nextPrompt([]word{{"claude", "One."}, {"", "Two."}})
	if !strings.Contains(text, "by another agent (claude)") || Task(text) != "One.\n\nTwo." || nextPrompt([]word{{"", "Two."}}) != "Two." {
		t.Errorf("the prompt: %s", text)
	}
}
