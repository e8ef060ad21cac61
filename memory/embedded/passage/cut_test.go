package passage

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
)

func TestPassages(t *testing.T) {
	long := strings.Repeat("All work and no play makes a dull day. ", 40)
	line := func(bytes int) string { return strings.Repeat("x", bytes) }
	colon := line(119) + ":"
	code := "```go\nfunc main() {\n\n\tprintln(1)\n}\n```"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"paragraphs", "One thing.\n\nAnother,\nof two lines.\n\n\n", []string{"One thing.", "Another,\nof two lines."}},
		{"nothing said", "…\n\n👍\n\n---\n", nil},
		{"a heading waits for its text", "## Ports\n\nThe proxy has 8080.", []string{"## Ports\n\nThe proxy has 8080."}},
		{"code is whole", "Try this:\n\n" + code, []string{"Try this:\n\n" + code}},
		{"long code keeps its fences", "```go\n" + strings.Repeat("println(11)\n", 60) + "```\nSee?", []string{
			"```go\n" + strings.Repeat("println(11)\n", 49) + "```",
			"```\n" + strings.Repeat("println(11)\n", 11) + "```\nSee?"}},
		{"forgotten", "[forgotten]. [forgotten]\n\nThe rest.", []string{"The rest."}},
		{"a short label waits for its text", colon[1:] + "\n\nThe text.", []string{colon[1:] + "\n\nThe text."}},
		{"a long line with a colon does not", colon + "\n\nThe text.", []string{colon, "The text."}},
		{"lines of 599 bytes in all", line(299) + "\n" + line(299), []string{line(299) + "\n" + line(299)}},
		{"lines of 600", line(299) + "\n" + line(300), []string{line(299), line(300)}},
		{"code behind half a passage", line(299) + "\n```\nx\n```", []string{line(299) + "\n```\nx\n```"}},
		{"code behind more", line(300) + "\n```\nx\n```", []string{line(300), "```\nx\n```"}},
		{"a line of 598", line(598), []string{line(598)}},
		{"a line of 599", line(599), []string{line(598), "x"}},
		{"empty", "", nil},
	} {
		if diff := cmp.Diff(c.want, Cut(c.text)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if list := Cut("x" + strings.Repeat("\x80", 2*Length)); len(list) != 1 { // no UTF-8, and nowhere a character begins
		t.Errorf("bytes that are no text are %d passages", len(list))
	}
	for _, text := range []string{long, strings.ReplaceAll(long, " ", ""), strings.Repeat("長い文です。", 300),
		strings.Repeat("x", 5000), strings.Repeat("line of a log\n", 400)} {
		list := Cut(text)
		if len(list) < 2 {
			t.Errorf("%.20q is %d passages", text, len(list))
		}
		for _, p := range list {
			if len(p) > Length || !utf8.ValidString(p) {
				t.Errorf("a passage of %d bytes: %.40q", len(p), p)
			}
		}
	}
}

func TestCutAt(t *testing.T) {
	for line, want := range map[string]int{
		"One two. Three four":  9,
		"One. two three four":  15,
		"One two three fourfi": 14,
		"Onetwo threefourfive": 18,
		"Onetwothr eefourfive": 10,
		"一二三。五六七":              12,
		"One two? Three four":  9,
		" ! Onetwothreefourfi": 18,
	} {
		if got := cutAt(line, 18); got != want {
			t.Errorf("%q is cut at %d, want %d", line, got, want)
		}
	}
}

// Whatever is said, its passages are words of it, in its order, and none is too long.
func FuzzCut(f *testing.F) {
	for _, text := range []string{"```\n" + strings.Repeat("y", 2000) + "\n~~~\n```\n\xff", "## A:\n\n\n_ -> b, no longer c",
		"x" + strings.Repeat("\x80", 2*Length), "we moved from A to B. ——\u2028 instead of _ use __"} {
		f.Add(text)
	}
	for _, text := range realtext.Seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest := text
		for _, p := range Cut(text) {
			if p == "" || len(p) > 2*Length || utf8.ValidString(text) && !utf8.ValidString(p) {
				t.Errorf("a passage of %d bytes: %.60q", len(p), p)
			}
			for line := range strings.SplitSeq(p, "\n") {
				if line == "```" || line == "~~~" { // of code that was cut
					continue
				}
				_, after, found := strings.Cut(rest, line)
				if rest = after; !found {
					t.Fatalf("%.60q is not said in %.60q", line, text)
				}
			}
			if TraitsOf(p, true).Has(Changes) != TellsChange(p) {
				t.Errorf("%.60q changes, and does not", p)
			}
			Replaced(p)
		}
	})
}

func TestReplaced(t *testing.T) {
	for text, want := range map[string]string{
		"We no longer use the old redis cache.": "redi", "It moved away from redis.": "redi", "redis no longer answers.": "answer",
	} {
		if got := Replaced(text); !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
