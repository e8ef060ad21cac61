package chars

import "testing"

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"": "''", "a/b-c=1": "a/b-c=1", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "a~": "'a~'",
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q: %s", word, got)
		}
	}
}
