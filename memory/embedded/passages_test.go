package embedded

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestPassages(t *testing.T) {
	long := strings.Repeat("All work and no play makes a dull day. ", 40)
	code := "```go\nfunc main() {\n\n\tprintln(1)\n}\n```"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"paragraphs", "One thing.\n\nAnother,\nof two lines.\n\n\n", []string{"One thing.", "Another,\nof two lines."}},
		{"nothing said", "…\n\n👍\n\n---\n", nil},
		{"a heading waits for its text", "## Ports\n\nThe proxy has 8080.", []string{"## Ports\n\nThe proxy has 8080."}},
		{"code is whole", "Try this:\n\n" + code, []string{"Try this:\n\n" + code}},
		{"forgotten", "[forgotten]. [forgotten]\n\nThe rest.", []string{"The rest."}},
		{"empty", "", nil},
	} {
		if diff := cmp.Diff(c.want, passagesOf(c.text)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	for _, text := range []string{long, strings.ReplaceAll(long, " ", ""), strings.Repeat("長い文です。", 300),
		strings.Repeat("x", 5000), strings.Repeat("line of a log\n", 400)} {
		list := passagesOf(text)
		if len(list) < 2 {
			t.Errorf("%.20q is %d passages", text, len(list))
		}
		for _, p := range list {
			if len(p) > passageLength || !utf8.ValidString(p) {
				t.Errorf("a passage of %d bytes: %.40q", len(p), p)
			}
		}
	}
}

func FuzzPassages(f *testing.F) {
	for _, c := range readConversations(f) {
		f.Add(c.texts[1])
	}
	f.Add("```\n" + strings.Repeat("y", 2000) + "\n```\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		for _, p := range passagesOf(text) {
			if p == "" || len(p) > 2*passageLength || !utf8.ValidString(p) {
				t.Errorf("passage of %d bytes: %.60q", len(p), p)
			}
		}
		for _, n := range standingIn(text) {
			if n.content == "" || len(n.content) > noteLength {
				t.Errorf("note %+v", n)
			}
		}
	})
}

func TestStanding(t *testing.T) {
	for text, want := range map[string]string{
		"I prefer tabs over spaces in Go. Can you format main.go?":      "personal preference",
		"We decided to drop IE11 support because nobody pays for it.":   "decision",
		"Please remember that the demo server resets every night at 3.": "fact",
		"Fix the error in parser.go.":                                   "",
		"Do we prefer tabs?":                                            "",
		"Ich bevorzuge kurze Antworten ohne Einleitung.":                "personal preference",
		"Nous avons décidé de garder PostgreSQL pour la facturation.":   "decision",
		"我更喜欢简短的回答，不要寒暄。":                                               "personal preference",
		"Wow! Amazing, congratulations!":                                "",
		"I prefer the layout of cmd/main.go.":                           "preference",
	} {
		got := ""
		for _, n := range standingIn(text) {
			if got += n.kind; n.personal {
				got = "personal " + got
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
