package term

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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

// How long the rest takes is said once the pace so far means something.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		took time.Duration
		done int64
		want string
	}{
		{time.Second, 50, "taking in: 50 %"}, {10 * time.Second, 0, "taking in: 0 %"},
		{10 * time.Second, 25, "taking in: 25 %, about 30 s left"}, {time.Minute, 10, "taking in: 10 %, about 9 min left"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			p := &Progress{screen: Screen{W: &out}, show: true}
			p.Share("taking in", 0, 100)
			time.Sleep(c.took)
			p.Share("taking in", c.done, 100)
			if _, last, _ := strings.Cut(out.String()[1:], "\r\x1b[K"); last != c.want {
				t.Errorf("after %v: %q, not %q", c.took, last, c.want)
			}
		})
	}
}
