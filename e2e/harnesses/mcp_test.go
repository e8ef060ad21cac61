//go:build harnesses

package harnesses

import (
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// The memory tools stand in the model's request; what it stores in one session it finds in another. codex and qwen
// show a server's tools in ways of their own, gemini trusts no folder that it was not told to, and pi ignores
// servers.
func TestMemoryTools(t *testing.T) {
	proxy, clients, modules := programs(t)
	for _, h := range harnesses {
		if !slices.Contains([]string{"claude", "copilot"}, h.name) {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			model := fakemodel.Start(useTools)
			box := h.stage(t, proxy, clients, modules, model)
			box.say("exec", "Keep it.")
			box.alone()
			box.say("exec", "Look it up.")
			box.alone()
			found := false
			for _, r := range model.Requests() {
				found = found || r.Result &&
					strings.Contains(strings.Join(r.User, "\n")+string(r.Body), "Look it up.") &&
					strings.Contains(string(r.Body), "\\\"content\\\":\\\"The anchor")
			}
			if !found {
				var offered []string
				for _, r := range model.Requests() {
					offered = append(offered, strings.Join(r.Tools, " "))
				}
				t.Errorf("what was stored was not found; %d requests with the tools\n%s", len(offered),
					strings.Join(offered, "\n"))
			}
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
