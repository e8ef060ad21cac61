package embedded

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded/passage"
)

func FuzzPassages(f *testing.F) {
	for _, c := range readConversations(f) {
		f.Add(c.texts[1])
	}
	f.Add("```\n" + strings.Repeat("y", 2000) + "\n```\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")
		for _, p := range passage.Cut(text) {
			if p == "" || len(p) > 2*passage.Length || !utf8.ValidString(p) {
				t.Errorf("passage of %d bytes: %.60q", len(p), p)
			}
		}
	})
}
