package delegation

import (
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
)

// clean returns a text as it may be stored: without private passages and secrets.
func clean(text string) string {
	text, _ = privacy.WithoutPrivate(strings.ToValidUTF8(text, "\ufffd"))
	return privacy.Redact(strings.ReplaceAll(text, "\x00", ""))
}

func cleaned(all []string) []string {
	kept := make([]string, len(all))
	for i, text := range all {
		kept[i] = clean(text)
	}
	return kept
}
