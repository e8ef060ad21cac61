//go:build harnesses

package harnesses

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/e2e/fakemodel"
)

// What is stored by a memory tool in one session is found by one in another, in each harness that offers them: qwen
// shows a server's tools to a model that searches for them, pi ignores servers.
func TestMemoryTools(t *testing.T) {
	for _, h := range slices.Concat(harnesses, others) {
		if h.name == "pi" {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			s := h.stage(t, useTools())
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

// useTools returns a model that calls the tool that the conversation is about, once, under whatever name the harness
// gives it, or by the tools that a harness has for those that it does not list.
func useTools() func(fakemodel.Request) fakemodel.Reply {
	var mu sync.Mutex
	calls := map[string]int{}
	return func(r fakemodel.Request) fakemodel.Reply {
		var tool string
		var arguments map[string]any
		switch said := strings.Join(r.User, "\n"); {
		case strings.Contains(said, "Look it up."):
			tool, arguments = "memory_search", map[string]any{"query": "How heavy is the anchor of the Curlew?"}
		case strings.Contains(said, "Keep it."):
			tool, arguments = "memory_store", map[string]any{"content": "The anchor of the Curlew weighs 23 kilograms."}
		default:
			return fakemodel.Reply{Text: "done"}
		}
		mu.Lock()
		defer mu.Unlock()
		listed := slices.IndexFunc(r.Tools, func(name string) bool { return strings.HasSuffix(name, tool) })
		searches := slices.Contains(r.Tools, "tool_search")
		switch n := calls[tool]; {
		case listed >= 0 && n == 0:
			calls[tool]++
			return fakemodel.Reply{Tool: r.Tools[listed], Args: arguments}
		case listed < 0 && searches && n == 0:
			calls[tool]++
			return fakemodel.Reply{Tool: "tool_search", Args: map[string]any{"query": tool}}
		case listed < 0 && searches && n == 1:
			calls[tool]++
			return fakemodel.Reply{Tool: "tool_call", Args: map[string]any{"name": "mcp__signet__" + tool, "arguments": arguments}}
		}
		return fakemodel.Reply{Text: "done"}
	}
}
