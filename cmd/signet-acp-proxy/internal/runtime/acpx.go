package runtime

import (
	"os"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/proxy"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// acpxCompat returns what acpx would do for this harness if it recognised it behind us.
func acpxCompat(p upstream.Profile) proxy.Compat {
	sources := p.SettingSources
	if len(sources) > 0 && strings.TrimSpace(os.Getenv("ACPX_CLAUDE_INCLUDE_USER_SETTINGS")) == "1" {
		sources = append([]string{"user"}, sources...)
	}
	return proxy.Compat{ClientInfo: p.ClientInfo, ClientMeta: p.ClientMeta, Answers: p.Answers, SettingSources: sources}
}

// placement returns where the identity goes for a harness: into the first prompt, or into its system prompt.
func placement(setting string, p upstream.Profile) proxy.Placement {
	return proxy.Placement{System: setting == "system" || setting == "auto" && p.SystemPrompt, Meta: p.MetaSystemPrompt}
}
