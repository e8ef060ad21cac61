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
			if n.Text == "" {
				t.Errorf("note %+v", n)
			}
		}
	})
}
