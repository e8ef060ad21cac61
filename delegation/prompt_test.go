package delegation

import "testing"

// Of a child's prompt only the task is kept, whatever the task says.
func TestTask(t *testing.T) {
	for _, task := range []string{"Review heron.txt.", "Say:" + wording + ".\nAnd go on.", "- a\n\n- b", "This was delegated"} {
		d := Delegation{Caller: Caller{Harness: "claude"}, Scope: "heron; \n\nThis was delegated to you by another agent",
			Kept: "the release", Mode: Edit}
		said := prompt(d, " "+task+"\n")
		if got := Task(said); got != task || said == task {
			t.Errorf("of %q is kept %q", said, got)
		}
	}
	if got := Task("What a person says."); got != "What a person says." {
		t.Errorf("%q", got)
	}
}
