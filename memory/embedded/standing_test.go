package embedded

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/e2e/realtext"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

// Whatever is said in a turn, what is learned from it is well formed.
func FuzzPassages(f *testing.F) {
	for _, c := range readConversations(f) {
		f.Add(c.texts[1])
	}
	f.Add("```\n" + strings.Repeat("y", 2000) + "\n```\n\xff")
	for _, text := range realtext.Seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read := readTurn(correlation.Said{User: text, Assistant: text})
		for _, p := range read.passages {
			if p.content == "" || len(p.content) > 2*passage.Length {
				t.Errorf("passage of %d bytes: %.60q", len(p.content), p.content)
			}
		}
		for _, n := range read.notes {
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
		for _, n := range standingNotes(text) {
			if got += n.kind; n.personal {
				got = "personal " + got
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
