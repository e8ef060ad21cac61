package term

import "testing"

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text        string
		width       int
		left, right string
	}{
		{"short", 5, "short", "short"},
		{"a long story", 6, "…story", "a lon…"},
		{"日本語の話", 6, "…の話", "日本…"},
		{"👩‍👩‍👧 family", 4, "…ily", "👩‍👩‍👧 …"}, // joined characters stay joined
		{"e\u0301e\u0301e\u0301", 2, "…e\u0301", "e\u0301…"},
		{"x", 0, "…", "…"},
	} {
		if got := cutLeft(c.text, c.width); got != c.left {
			t.Errorf("cutLeft(%q, %d) = %q, want %q", c.text, c.width, got, c.left)
		}
		if got := Cut(c.text, c.width); got != c.right {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.width, got, c.right)
		}
	}
}
