//go:build harnesses

package harnesses

import (
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// What is stored by a memory tool in one session is found by one in another, in each harness that offers them: qwen
// shows a server's tools to a model that searches for them, pi ignores servers.
func TestMemoryTools(t *testing.T) {
	for _, h := range harnesses {
		if h.name == "pi" {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			s := h.stage(t, useTools)
			s.say("exec", "Keep it.")
			s.alone()
			s.say("exec", "Look it up.")
			s.alone()
			found, offered := false, ""
			for _, r := range s.model.Requests() {
				found = found || r.Result &&
					strings.Contains(strings.Join(r.User, "\n")+string(r.Body), "Look it up.") &&
					strings.Contains(string(r.Body), "\\\"content\\\":\\\"The anchor")
				offered += strings.Join(r.Tools, " ") + "\n"
			}
			s.check("memory tool called and answered", found, "of the tools\n%s", offered)
		})
	}
}

// useTools calls the tool that the conversation is about, once, under whatever name the harness gives it.
func useTools(r fakemodel.Request) fakemodel.Reply {
	said := strings.Join(r.User, "\n")
	tool, arguments := "", map[string]any{}
	switch {
	case r.Result:
	case strings.Contains(said, "Look it up."):
		tool, arguments = "memory_search", map[string]any{"query": "How heavy is the anchor of the Curlew?"}
	case strings.Contains(said, "Keep it."):
		tool, arguments = "memory_store", map[string]any{"content": "The anchor of the Curlew weighs 23 kilograms."}
	}
	i := slices.IndexFunc(r.Tools, func(name string) bool { return strings.HasSuffix(name, tool) })
	if tool == "" || i < 0 {
		return fakemodel.Reply{Text: "done"}
	}
	return fakemodel.Reply{Tool: r.Tools[i], Args: arguments}
}
