package delegation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/delegation/client"
)

// What agents ask for as real ones spell it, and whether each mode allows it.
func TestPolicy(t *testing.T) {
	for _, tt := range []struct {
		name, call  string
		read, edit  bool
		withExecute bool // in edit, where a person has allowed that
	}{
		{"reading", `{"kind":"read","title":"Read a.go"}`, true, true, true},
		{"searching", `{"kind":"search"}`, true, true, true},
		{"editing", `{"kind":"edit","locations":[{"path":"/work/a.go"}]}`, false, true, true},
		{"by its input", `{"kind":"edit","rawInput":{"file_path":"/work/a.go","content":"x"}}`, false, true, true},
		{"by what it shows", `{"kind":"edit","content":[{"type":"diff","path":"/work/a.go","newText":"x"}]}`, false, true, true},
		{"several", `{"kind":"edit","rawInput":{"changes":{"/work/a.go":{},"/work/b.go":{}}}}`, false, true, true},
		{"one of them outside", `{"kind":"edit","rawInput":{"changes":{"/work/a.go":{},"/etc/b":{}}}}`, false, false, false},
		{"outside", `{"kind":"edit","locations":[{"path":"/etc/passwd"}]}`, false, false, false},
		{"inside, and writing outside", `{"kind":"edit","locations":[{"path":"/work/a"}],"rawInput":{"path":"/etc/x"}}`, false,
			false, false},
		{"no file", `{"kind":"edit","title":"Write a file"}`, false, false, false},
		{"deleting", `{"kind":"delete","rawInput":{"path":"/work/a.go"}}`, false, true, true},
		{"moving out", `{"kind":"move","rawInput":{"source":"/work/a.go","destination":"/tmp/a.go"}}`, false, false, false},
		{"executing", `{"kind":"execute","title":"rm -rf /"}`, false, false, true},
		{"fetching", `{"kind":"fetch"}`, false, false, false},
		{"leaving a mode", `{"kind":"switch_mode","title":"Ready to code?"}`, false, false, false},
		{"something else", `{"kind":"other","title":"Delegate"}`, false, false, false},
		{"no kind", `{"title":"memory_search"}`, false, false, false},
		{"our search, claude", `{"kind":"other","title":"mcp__signet__memory_search"}`, true, true, true},
		{"our search, gemini", `{"kind":"other","title":"memory_search (signet MCP Server)"}`, true, true, true},
		{"our search, opencode", `{"kind":"other","title":"signet_memory_search"}`, true, true, true},
		{"our delegate", `{"kind":"other","title":"mcp__signet__delegate"}`, true, true, true},
		{"storing", `{"kind":"other","title":"mcp__signet__memory_store"}`, false, false, false},
		{"another's tool", `{"kind":"other","title":"mcp__evil__signet_memory_search"}`, false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var call client.ToolCall
			var content struct{ Content client.Content }
			if err := json.Unmarshal([]byte(tt.call), &call); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tt.call), &content); err != nil {
				t.Fatal(err)
			}
			call.ID, call.Changes = "c", content.Content.Diffs
			inside := func(path string) bool { return strings.HasPrefix(path, "/work/") }
			got := []bool{
				(&policy{mode: Read, inside: inside}).allow(call), (&policy{mode: Edit, inside: inside}).allow(call),
				(&policy{mode: Edit, inside: inside, granted: []string{"execute"}}).allow(call),
			}
			if diff := cmp.Diff([]bool{tt.read, tt.edit, tt.withExecute}, got); diff != "" {
				t.Errorf("read, edit, with execute (-want +got):\n%s", diff)
			}
		})
	}
}

// A request for permission may leave out what was told of the call before; what was refused is told.
func TestPolicyRemembers(t *testing.T) {
	p := &policy{mode: Edit, inside: func(string) bool { return false }}
	p.see(client.ToolCall{ID: "1", Does: "read", Title: "Read"})
	p.see(client.ToolCall{ID: "2", Does: "edit", Title: "Write\nhere", Input: json.RawMessage(`{"path":"/etc/x"}`)})
	if !p.allow(client.ToolCall{ID: "1"}) || p.allow(client.ToolCall{ID: "2"}) {
		t.Error("what was told before is forgotten")
	}
	if diff := cmp.Diff([]string{"Write here: /etc/x lies outside of its folder"}, p.refused); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range 3 * mostRefused {
		p.allow(client.ToolCall{ID: "3"})
	}
	if len(p.refused) != mostRefused {
		t.Errorf("%d are told", len(p.refused))
	}
}
