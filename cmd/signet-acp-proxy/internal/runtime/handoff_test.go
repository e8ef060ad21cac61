package runtime

import (
	"os/exec"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

// What is printed to be pasted means the same to a shell, and nothing to a terminal.
func TestShellLine(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"plain/path-1", "plain/path-1"},
		{"", "''"},
		{"it's here", `'it'\''s here'`},
		{"a\x1b]0;b\a'c\u009b\u202e", `$'a\x1b]0;b\a\'c\u009b\u202e'`},
	} {
		line := shellLine([]string{"printf", "%s", test.word})
		if want := "printf %s " + test.want; line != want {
			t.Errorf("%q: %s, not %s", test.word, line, want)
		}
		if bash, err := exec.LookPath("bash"); err == nil {
			out, err := exec.Command(bash, "-c", "LC_ALL=C.UTF-8; "+line).Output()
			if err != nil || string(out) != test.word {
				t.Errorf("%s prints %q, %v", line, out, err)
			}
		}
	}
}

// Where no command of the agent is known, a person puts it in.
func TestHandoffCommand(t *testing.T) {
	h := handoff{To: "pi"}
	if err := h.Run(t.Context(), term.Streams{}); err == nil || h.Command() != "signet-acp-proxy --agent pi -- COMMAND" {
		t.Errorf("%s, %v", h.Command(), err)
	}
	if h.acpx = [][]string{{"acpx", "a"}, {"acpx", "b c"}}; h.Command() != "acpx a && acpx 'b c'" {
		t.Error(h.Command())
	}
}
