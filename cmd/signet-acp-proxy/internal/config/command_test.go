package config

import (
	"slices"
	"testing"
)

func TestSplitCommand(t *testing.T) {
	for text, want := range map[string][]string{
		`agent --acp`:          {"agent", "--acp"},
		`  a   "b c" 'd "e"' `: {"a", "b c", `d "e"`},
		`a\ b c`:               {"a b", "c"},
		`a "x\"y" '\n'`:        {"a", `x"y`, `\n`},
		`a ""`:                 {"a", ""},
		``:                     nil,
		`"open`:                nil,
		`""`:                   nil,
	} {
		if got, err := SplitCommand(text); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("SplitCommand(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}
