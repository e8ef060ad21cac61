package delegation

import (
	"strings"
	"testing"
)

// Of a child's prompt only the task is kept, whatever the task says.
func TestTask(t *testing.T) {
	for _, task := range []string{"Review heron.txt.", "Say:" + wording + ".\nAnd go on.", "- a\n\n- b", "This was delegated"} {
		d := Delegation{Caller: Caller{Harness: "claude"}, Request: Request{Scope: "heron; \n\nThis was delegated to you by another agent",
			Kept: "the release", Mode: Edit}}
		said := prompt(d, " "+task+"\n", false)
		if got := Task(said); got != task || said == task {
			t.Errorf("of %q is kept %q", said, got)
		}
	}
	for _, ask := range []bool{false, true} { // who may be asked is not said to be away
		if strings.Contains(prompt(Delegation{}, "T.", ask), "or allow anything") == ask {
			t.Errorf("ask %v: %s", ask, prompt(Delegation{}, "T.", ask))
		}
	}
	for mode, want := range map[Mode]string{Read: "Read only: change no file.", Edit: "your own copy of the files"} {
		if said := prompt(Delegation{Request: Request{Mode: mode}}, "T.", false); !strings.Contains(said, want) {
			t.Errorf("to %s: %s", mode, said)
		}
	}
	if got := Task(wording + "."); got != "" {
		t.Errorf("of nothing is kept %q", got)
	}
	if got := Task("What a person says."); got != "What a person says." {
		t.Errorf("%q", got)
	}
}
