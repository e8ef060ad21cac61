package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// Where a daemon answers, too, the tools see and change what is of the session's project or of none, unless a person
// wants all.
func TestDaemonKeepsToTheProject(t *testing.T) {
	for _, all := range []bool{false, true} {
		stand := newStandIn()
		for name, o := range map[string]daemontest.Options{"api": {}, "mcp": {MCP: stand.handler}} {
			d := daemontest.Start(t, o)
			own := d.RememberIn("/src/heron", "The heron wades at dawn", "fact")
			below := d.RememberIn("/src/heron/nest", "The heron breeds in April", "fact")
			nobodys := d.Remember("The heron is grey", "fact")
			others := d.RememberIn("/src/teal", "The heron of the teal project", "fact")
			c := connect(t, newServer(t, nil, withDaemon(t, d), func(o *Options) { o.OtherProjects = all }), robin)
			if name == "mcp" {
				c.until("agent_peers", true)
			} else {
				for deadline := time.Now().Add(patience); ; {
					if words, failed := c.call("memory_list", nil); !failed && strings.Contains(words, own) {
						break
					}
					if time.Now().After(deadline) {
						t.Fatal("the daemon does not answer")
					}
				}
			}
			for _, tool := range []string{"memory_search", "memory_list"} {
				if name == "mcp" {
					continue // its stand-in lists nothing
				}
				words, failed := c.call(tool, map[string]any{"query": "heron"})
				for id, want := range map[string]bool{own: true, below: true, nobodys: true, others: all} {
					if strings.Contains(words, `"`+id+`"`) != want || failed {
						t.Errorf("all %v, %s, %s: %s there is not %v in %s", all, name, tool, id, want, words)
					}
				}
			}
			for _, tool := range []string{"memory_get", "memory_modify", "memory_forget"} {
				more := map[string]any{"id": others, "type": "preference", "reason": "r"}
				if words, failed := c.call(tool, more); failed != !all {
					t.Errorf("all %v, %s, %s of another project: %s", all, name, tool, words)
				}
				if all {
					continue
				}
				more["id"] = nobodys
				if words, failed := c.call(tool, more); failed {
					t.Errorf("%s, %s: %s", name, tool, words)
				}
			}
			if all {
				continue
			}
			if words, failed := c.call("memory_feedback", map[string]any{"session_key": "k",
				"ratings": map[string]any{others: -1}}); !failed {
				t.Errorf("%s: rated what is of another project: %s", name, words)
			}
			words, failed := c.call("memory_feedback", map[string]any{"session_key": "k",
				"ratings": map[string]any{others: -1, own: 1}})
			var rated string
			if given := d.FeedbackGiven(); len(given) > 0 {
				text, _ := json.Marshal(given[0].Ratings)
				rated = string(text)
			}
			for _, call := range stand.called() {
				if strings.HasPrefix(call, "memory_feedback ") {
					rated = call
				}
			}
			if failed || strings.Contains(rated, others) || !strings.Contains(rated, own) {
				t.Errorf("%s: rated %s: %s", name, rated, words)
			}
		}
	}
}

// What is no list of memories stays as it came.
func TestScopeKeeps(t *testing.T) {
	s := scope{"/src/heron"}
	for _, tt := range []struct{ in, want string }{
		{`{"results":[{"project":"/src/teal"},{"project":"/src/heron"},{"project":null},{}],"count":4}`,
			`{"count":3,"results":[{"project":"/src/heron"},{"project":null},{}]}`},
		{`{"memories":[{"project":"/src/heron2"}]}`, `{"memories":[]}`},
		{`{ "results": [ {"project":"/src/heron/a"} ] }`, `{ "results": [ {"project":"/src/heron/a"} ] }`},
		{`no JSON`, `no JSON`}, {`[1]`, `[1]`}, {`{"results":7}`, `{"results":7}`}, {`null`, `null`}, {``, ``},
	} {
		if got := s.filterText(tt.in); got != tt.want {
			t.Errorf("%s became %s", tt.in, got)
		}
	}
}

// A tool of the daemon's own that takes a project gets the session's.
func TestFillProject(t *testing.T) {
	var l daemonInfo
	tools := `[
		{"name":"session_search","inputSchema":{"type":"object","properties":{"project":{}}}},
		{"name":"memory_search","inputSchema":{"type":"object","properties":{"project":{},"query":{}}}}]`
	if err := json.Unmarshal([]byte(tools), &l.tools); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ tool, raw, want string }{
		{"session_search", `{}`, `{"project":"/src/heron"}`},
		{"session_search", `{"project":"/src/teal"}`, `{"project":"/src/heron"}`},
		{"memory_search", `{"query":"q"}`, `{"query":"q"}`},
		{"memory_search", `{"project":"/src/teal","query":"q"}`, `{"project":"/src/heron","query":"q"}`},
	} {
		q := toolCall{who: robin(), name: tt.tool, raw: json.RawMessage(tt.raw)}
		if got := string(l.fill(q, scope{"/src/heron"})); got != tt.want {
			t.Errorf("%s %s: %s", tt.tool, tt.raw, got)
		}
		if got := string(l.fill(q, scope{})); got != tt.raw {
			t.Errorf("all projects, %s %s: %s", tt.tool, tt.raw, got)
		}
	}
}
