package upstream

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestRegistry(t *testing.T) {
	owner := make(map[string]string)
	for _, name := range Names() {
		p, ok := Lookup(name)
		if !ok || p.Name != name {
			t.Fatalf("%s: %v, %v", name, p.Name, ok)
		}
		if p.Title == "" || len(p.Command) == 0 || p.Install == "" {
			t.Errorf("%s: the row has gaps: %+v", name, p)
		}
		if !slices.Contains([]string{"", MCPStdio, MCPHTTP, MCPNone}, p.MCP) {
			t.Errorf("%s: MCP %q", name, p.MCP)
		}
		if !slices.Contains([]string{"", CancelledKept, CancelledBegun, CancelledForgot}, p.Cancelled) {
			t.Errorf("%s: it keeps %q of cancelled prompts", name, p.Cancelled)
		}
		for _, object := range []json.RawMessage{p.ClientInfo, p.ClientMeta} {
			if object != nil && json.Unmarshal(object, &map[string]any{}) != nil {
				t.Errorf("%s: %s is no object", name, object)
			}
		}
		for _, agent := range p.Agents {
			if agent != strings.ToLower(agent) {
				t.Errorf("%s: agent %q is not in lower case", name, agent)
			}
			if other := owner[agent]; other != "" {
				t.Errorf("%s and %s both call themselves %q", name, other, agent)
			}
			owner[agent] = name
		}
		for _, command := range [][]string{p.Command, p.Installed} {
			if len(command) == 0 {
				continue
			}
			if got, ok := ByCommand(command); !ok || got.Name != name {
				t.Errorf("ByCommand(%q) = %q, %v", command, got.Name, ok)
			}
		}
	}
	if names := Names(); !slices.IsSorted(names) || len(names) != len(registry()) {
		t.Errorf("names are missing, or not in order: %q", names)
	}
}

func TestLookup(t *testing.T) {
	for name, want := range map[string]string{
		"claude": "claude", " Claude ": "claude", "factory-droid": "droid", "claude-code": "claude", "factorydroid": "droid",
		"": "", "claud": "", "npx": "",
		"@agentclientprotocol/claude-agent-acp": "claude", "@zed-industries/claude-code-acp": "claude",
		"@agentclientprotocol/codex-acp": "codex", "OpenCode": "opencode", "gemini-cli": "gemini",
		"qwen-code": "qwen", "pi-acp": "pi", "Copilot": "copilot", "Kimi Code CLI": "kimi", "Kiro CLI Agent": "kiro",
		"@factory/cli": "droid", "Kilo": "kilocode", "devin": "devin", "claude-agent-acp-fork": "",
	} {
		if p, ok := Lookup(name); p.Name != want || ok != (want != "") {
			t.Errorf("Lookup(%q) = %q, %v", name, p.Name, ok)
		}
	}
	for want, names := range map[string][]string{"codex": {"codex", "pi"}, "pi": {"who knows", "pi"}, "": {"", "x"}} {
		if p, ok := Lookup(names...); p.Name != want || ok != (want != "") {
			t.Errorf("Lookup(%q) = %q, %v", names, p.Name, ok)
		}
	}
	// It is asked while answers stream, and is made once; what is appended to a command does not get into it.
	p, _ := Lookup("claude")
	_ = append(p.Command, "mine")
	if again, _ := Lookup("claude"); &again.Command[0] != &p.Command[0] || cap(p.Command) != len(p.Command) {
		t.Error("the registry is made again, or a caller can append to it")
	}
}

func TestByCommand(t *testing.T) {
	for _, test := range []struct{ command, want string }{
		{"claude-agent-acp", "claude"},
		{"/opt/bin/Claude-Agent-ACP.cmd", "claude"},
		{`C:\npm\gemini.CMD --acp`, "gemini"},
		{"node /opt/claude-agent-acp/dist/index.js", "claude"},
		{"npm exec @agentclientprotocol/claude-agent-acp@0.100.0", "claude"},
		{"node x/node_modules/opencode-ai/bin/opencode acp", "opencode"},
		{`node x\node_modules\@kilocode\cli\index.js acp`, "kilocode"},
		{"bunx mux@0.28 acp", "mux"},
		{"npx -y opencode-ai@1.18.33 acp", "opencode"},
		{"npx something-else", ""},
		{"node /home/mux/agent.js", ""},
		{"cat", ""},
		{"", ""},
	} {
		if p, ok := ByCommand(strings.Fields(test.command)); p.Name != test.want || ok != (test.want != "") {
			t.Errorf("ByCommand(%q) = %q, %v", test.command, p.Name, ok)
		}
	}
}

// In some modes an agent asks nobody before it calls a tool of ours.
func TestAsks(t *testing.T) {
	for _, tt := range []struct {
		agent, mode string
		want        bool
	}{
		{"claude", "", true}, {"claude", "default", true}, {"claude", "auto", false},
		{"kimi", "", true}, {"kimi", "plan", true}, {"kimi", "auto", false}, {"kimi", "yolo", false},
		{"codex", "", false},
	} {
		if p, _ := Lookup(tt.agent); p.Asks(tt.mode) != tt.want {
			t.Errorf("%s in mode %q: %v", tt.agent, tt.mode, !tt.want)
		}
	}
}
