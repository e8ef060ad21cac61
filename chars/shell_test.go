package chars

import (
	"strings"
	"testing"
)

func TestExitCode(t *testing.T) {
	long := strings.Repeat("x\n", 400)
	for output, want := range map[string]int{"Exit code 1\nFAIL": 1, "Exit code: 0\nWall time: 1 s": 0, `{\"exit_code\":101}`: 101,
		"exited with code 2": 2, long + "Exit Code: 7": 7, long + "Exit code 1\n" + long: -1, "the exit codes 1 and 2": -1, "ok": -1} {
		got := ExitCode(output)
		if want < 0 && got != nil || want >= 0 && (got == nil || *got != want) {
			t.Errorf("%.40q: %v", output, got)
		}
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"": "''", "a/b-c=1": "a/b-c=1", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "a~": "'a~'",
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q: %s", word, got)
		}
	}
}
