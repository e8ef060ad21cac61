package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// A search beside a daemon asks it for each query, adds what of ours it has nothing like, and what was found is got by
// its id from whoever has it.
func TestSearchesBoth(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		limit        int
		want         []string
	}{
		{"its list", `{"results":[{"id":"d1","content":"The heron nests on pier nine."},{"id":"d2","content":"Reed."}],
			"count":2}`, 10, []string{"d1", "d2", "ours"}},
		{"a full list", `{"results":[{"id":"d1","content":"The heron nests on pier nine."},{"id":"d2","content":"Reed."},
			{"id":"d3","content":"Bay."}],"count":3}`, 3, []string{"d1", "d2", "ours"}},
		{"an empty list", `{"results":[]}`, 10, []string{"same", "ours"}},
		{"another form", `{"by":"daemon"}`, 10, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := newStore(t)
			ids := map[string]string{}
			for _, text := range []string{"ours: the heron of the harbour eats only smelt at dawn.",
				"same: on pier nine the heron nests."} {
				m, _, err := store.Add(t.Context(), embedded.Memory{Content: text, Project: "/src/heron",
					Who: memory.Typed})
				if err != nil {
					t.Fatal(err)
				}
				ids[m.ID] = text[:4]
			}
			stand := newStandIn()
			stand.answer = func(string) *mcp.CallToolResult { return textResult(c.answer) }
			d := daemontest.Start(t, daemontest.Options{MCP: stand.handler})
			client := connect(t, newServer(t, store, withDaemon(t, d)), robin)
			client.until("agent_peers", true)
			words, failed := client.call(searchTool, map[string]any{"query": "x",
				"queries": []string{"heron nests", "heron smelt dawn"}, "limit": c.limit})
			var asked []string
			for _, query := range []string{"heron nests", "heron smelt dawn"} {
				asked = append(asked, fmt.Sprintf(`memory_search {"limit":%d,"query":%q}`, c.limit, query))
			}
			if diff := cmp.Diff(asked, stand.called()); failed || diff != "" {
				t.Fatalf("%s: the daemon got (-want +got):\n%s", words, diff)
			}
			var got []string
			var answer struct{ Results []struct{ ID string } }
			if json.Unmarshal([]byte(words), &answer) == nil {
				for _, row := range answer.Results {
					if name := ids[row.ID]; name != "" {
						got = append(got, name)
						var m struct{ Content string }
						client.ok("memory_get", map[string]any{"id": row.ID}, &m)
					} else {
						got = append(got, row.ID)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || !strings.Contains(words, "ours: ") {
				t.Errorf("found (-want +got):\n%s\n%s", diff, words)
			}
		})
	}
}
