package mcpserver

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// A child's server lists what its mode allows, and answers nothing else, whoever answers: the store, or a daemon with
// tools of its own. What it stores is marked, and changes nothing that is there.
func TestRights(t *testing.T) {
	const content = "The keel of the Curlew is of oak."
	for _, tt := range []struct {
		name   string
		rights Rights
		want   string
	}{
		{"read", ReadRights, "memory_files memory_get memory_list memory_search"},
		{"edit", NoteRights, "memory_files memory_get memory_list memory_search memory_store"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := newStore(t)
			theirs, _, err := store.Add(t.Context(), embedded.Memory{Content: content, Project: "/src/heron", Tags: "boat"})
			if err != nil {
				t.Fatal(err)
			}
			rights := func(o *Options) { o.Rights = tt.rights }
			c := connect(t, newServer(t, store, rights), robin)
			names := c.names()
			slices.Sort(names)
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("tools: %s", got)
			}
			for name, arguments := range map[string]map[string]any{
				"memory_forget":   {"id": theirs.ID, "reason": "x"},
				"memory_modify":   {"id": theirs.ID, "reason": "x", "content": "Gone."},
				"memory_feedback": {"session_key": "x", "ratings": map[string]any{theirs.ID: -1}},
			} {
				if said, failed := c.call(name, arguments); !failed || !strings.Contains(said, "unknown tool") {
					t.Errorf("%s: %s", name, said)
				}
			}
			_, refused := c.call("memory_store", map[string]any{"content": content, "tags": "mine"})
			if refused != (tt.rights == ReadRights) {
				t.Errorf("storing is refused: %v", refused)
			}
			if now, err := store.Get(t.Context(), theirs.ID); err != nil || now.Tags != "boat" || now.Origin != "user" {
				t.Errorf("what was there is now %+v, %v", now, err)
			}
			if !refused {
				var stored struct{ ID string }
				c.ok("memory_store", map[string]any{"content": "Its mast is of pine.", "tags": "mine"}, &stored)
				if m, err := store.Get(t.Context(), stored.ID); err != nil || m.Origin != "child" || m.Tags != "mine,child" {
					t.Errorf("stored: %+v, %v", m, err)
				}
			}

			behind := newStandIn()
			d := daemontest.Start(t, daemontest.Options{MCP: behind.handler})
			c = connect(t, newServer(t, nil, withDaemon(t, d), rights), robin)
			for deadline := time.Now().Add(patience); ; { // until the daemon was looked for
				if said, _ := c.call("memory_list", nil); strings.Contains(said, "daemon\"") || time.Now().After(deadline) {
					break
				}
			}
			if names = c.names(); len(names) != len(strings.Fields(tt.want)) {
				t.Errorf("of a daemon: %v", names)
			}
			for _, name := range []string{"agent_peers", "memory_forget"} {
				if said, failed := c.call(name, map[string]any{"id": "abcdef", "reason": "x"}); !failed {
					t.Errorf("%s of a daemon: %s", name, said)
				}
			}
			c.call("memory_store", map[string]any{"content": content, "pinned": true})
			calls := strings.Join(behind.called(), "\n")
			if strings.Contains(calls, "agent_peers") || strings.Contains(calls, "memory_forget") ||
				strings.Contains(calls, "pinned") ||
				strings.Contains(calls, `"tags":"child"`) != (tt.rights == NoteRights) {
				t.Errorf("the daemon was asked:\n%s", calls)
			}
		})
	}
}
