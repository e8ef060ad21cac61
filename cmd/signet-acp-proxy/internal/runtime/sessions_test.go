package runtime

import (
	"strings"
	"testing"
)

func TestBeginnings(t *testing.T) {
	for _, c := range []struct{ names, want string }{ // thing:name
		{"1:abcdefghijkl", "abcdefgh"},
		{"1:abcdefghij 2:abcdefghik", "abcdefghij abcdefghik"},
		{"1:abcdefghijkl 1:abcdefghijkm 2:zzz", "abcdefgh abcdefgh zzz"}, // of one thing
		{"1:sess 2:sess-1", "sess sess-1"},                               // one begins the other: the whole of it
		{"1:äöüäöüäöü1 2:äöüäöüäöü2", "äöüäöüäöü1 äöüäöüäöü2"},
	} {
		var names []Named
		for _, one := range strings.Fields(c.names) {
			names = append(names, Named{int64(one[0] - '0'), one[2:]})
		}
		got := Beginnings(names)
		var all []string
		for _, one := range names {
			all = append(all, got[one])
		}
		if joined := strings.Join(all, " "); joined != c.want {
			t.Errorf("%s: %q, want %q", c.names, joined, c.want)
		}
	}
}

func TestTitle(t *testing.T) {
	for text, want := range map[string]string{
		"Which editor\n\ndo I  use?": "Which editor do I use?",
		strings.Repeat("ö", 81):      strings.Repeat("ö", 79) + "…",
		"\x1b[31mred":                "[31mred",
	} {
		if got := title(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
