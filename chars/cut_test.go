package chars

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abc", 5, "abc"}, {"abcd", 3, "abc"}, {"abc", 0, ""}, {"abc", -1, ""},
		{"aé", 2, "a"}, {"aé", 3, "aé"}, {"日本", 5, "日"}, {"日本", 2, ""}, {"😀😀", 7, "😀"},
		{"\x80\x80\x80\x80\x80\x80\x80", 6, "\x80\x80\x80\x80\x80\x80"},
	} {
		if got := Cut(c.text, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("aé日😀\xff", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		got := Cut(text, n)
		if !strings.HasPrefix(text, got) || len(got) > max(n, 0) || n <= len(text) && len(got) < n-utf8.UTFMax {
			t.Errorf("Cut(%q, %d) = %q", text, n, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q, half a character", text, n, got)
		}
		if b := Boundary([]byte(text), n); b != Boundary(text, n) {
			t.Errorf("bytes of %q are cut elsewhere: %d", text, b)
		}
	})
}

func TestTitle(t *testing.T) {
	for text, want := range map[string]string{
		"Which editor\n\ndo I  use?": "Which editor do I use?",
		strings.Repeat("ö", 81):      strings.Repeat("ö", 79) + "…",
		strings.Repeat("ö", 80):      strings.Repeat("ö", 80),
		"\x1b[31mred":                "[31mred",
	} {
		if got := Title(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
