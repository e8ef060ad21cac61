package upstream

import (
	"encoding/json"
	"runtime"
	"time"
)

const needsNode = "install Node.js 22 or newer (https://nodejs.org), which brings npx"

// registry has acpx 0.19.1's agents with their command lines (its src/agent-registry.ts). What is said of claude, codex,
// copilot, gemini, opencode, pi and qwen beyond that was measured on the real programs.
var registry = []Profile{
	{
		Name: "antigravity", Title: "Google Antigravity",
		Command: antigravity(),
		Install: "install Google Antigravity's ACP server",
	},
	{
		Name: "claude", Title: "Claude Code",
		Command:           []string{"npx", "-y", "@agentclientprotocol/claude-agent-acp@^0.76.0"},
		Installed:         []string{"claude-agent-acp"},
		Agents:            []string{"@agentclientprotocol/claude-agent-acp", "@zed-industries/claude-agent-acp", "@zed-industries/claude-code-acp"},
		Install:           needsNode + ", or npm install -g @agentclientprotocol/claude-agent-acp",
		KeepsFailedPrompt: true,
		AsksForTools:      true,
		SystemPrompt:      true,
		// Without them Claude loads the user's own hooks and plugins, Signet's among them.
		SettingSources: []string{"project", "local"},
		prepare:        prepareClaude,
	},
	{
		Name: "codex", Title: "Codex",
		Command:           []string{"npx", "-y", "@agentclientprotocol/codex-acp@^1.1.5"},
		Installed:         []string{"codex-acp"},
		Agents:            []string{"@agentclientprotocol/codex-acp", "@zed-industries/codex-acp", "codex-acp"},
		Install:           needsNode + ", or npm install -g @agentclientprotocol/codex-acp",
		KeepsFailedPrompt: true,
		SystemPrompt:      true,
	},
	{
		Name: "copilot", Title: "GitHub Copilot",
		Command: []string{"copilot", "--acp", "--stdio"},
		Agents:  []string{"copilot", "github-copilot", "github copilot"},
		Install: "npm install -g @github/copilot",
		MCP:     MCPHTTP,
		prepare: checkCopilot,
	},
	{
		Name: "cursor", Title: "Cursor",
		Command: []string{"cursor-agent", "acp"},
		Agents:  []string{"cursor", "cursor-agent", "cursor agent"},
		Install: "install the Cursor CLI (https://cursor.com/cli)",
	},
	{
		Name: "devin", Title: "Devin",
		Command:    []string{"devin", "acp"},
		Agents:     []string{"devin"},
		Install:    "install the Devin CLI",
		MCP:        MCPNone, // refuses session/load with a server
		ClientInfo: json.RawMessage(`{"name":"windsurf","version":"1.110.1"}`),
		ClientMeta: json.RawMessage(`{"cognition.ai/requestDiagnostics":true}`),
		Answers:    []string{"_cognition.ai/request_diagnostics"},
	},
	{
		Name: "droid", Title: "Factory Droid",
		Command: []string{"droid", "exec", "--output-format", "acp"},
		Agents:  []string{"droid", "factory-droid", "factory droid"},
		Install: "install Factory's CLI (https://docs.factory.ai)",
	},
	{
		Name: "fast-agent", Title: "Fast Agent",
		Command: []string{"uvx", "fast-agent-mcp", "acp"},
		Agents:  []string{"fast-agent", "fast-agent-acp", "fast-agent-mcp"},
		Install: "install uv (https://docs.astral.sh/uv), which brings uvx",
	},
	{
		Name: "fx", Title: "fx",
		Command: []string{"fx", "acp"},
		Agents:  []string{"fx"},
		Install: "install fx",
	},
	{
		Name: "gemini", Title: "Gemini CLI",
		Command: []string{"gemini", "--acp"},
		Agents:  []string{"gemini", "gemini-cli", "gemini cli"},
		Install: "npm install -g @google/gemini-cli",
		// With an MCP server, so with ours, it never leaves by itself; TERM ends it within 0.1 s.
		Grace:        time.Second,
		AsksForTools: true,
		prepare:      prepareGemini,
	},
	{
		Name: "grok-build", Title: "Grok Build",
		Command: []string{"grok", "agent", "stdio"},
		Agents:  []string{"grok", "grok-build"},
		Install: "install the Grok CLI",
	},
	{
		Name: "iflow", Title: "iFlow",
		Command: []string{"iflow", "--experimental-acp"},
		Agents:  []string{"iflow", "iflow-cli"},
		Install: "npm install -g @iflow-ai/iflow-cli",
	},
	{
		Name: "junie", Title: "Junie",
		Command: []string{"junie", "--acp=true"},
		Agents:  []string{"junie"},
		Install: "install JetBrains Junie's CLI",
	},
	{
		Name: "kilocode", Title: "Kilo Code",
		Command:   []string{"npx", "-y", "@kilocode/cli", "acp"},
		Installed: []string{"kilo", "acp"},
		Agents:    []string{"kilo", "kilocode", "kilo code"},
		Install:   needsNode + ", or npm install -g @kilocode/cli",
	},
	{
		Name: "kimi", Title: "Kimi Code",
		Command: []string{"kimi", "acp"},
		Agents:  []string{"kimi", "kimi code cli", "kimi cli", "kimi-cli"},
		Install: "uv tool install kimi-cli",
	},
	{
		Name: "kiro", Title: "Kiro",
		Command: []string{"kiro-cli-chat", "acp"},
		Agents:  []string{"kiro", "kiro-cli", "kiro cli"},
		Install: "install the Kiro CLI (https://kiro.dev/docs/cli)",
	},
	{
		Name: "mcode", Title: "MCode",
		Command: []string{"mcode", "acp"},
		Agents:  []string{"mcode"},
		Install: "install MCode",
	},
	{
		Name: "mux", Title: "Mux",
		Command: []string{"npx", "-y", "mux@^0.28.0", "acp"},
		Agents:  []string{"mux"},
		Install: needsNode,
	},
	{
		Name: "openclaw", Title: "OpenClaw",
		Command: []string{"openclaw", "acp"},
		Agents:  []string{"openclaw", "openclaw-acp"},
		Install: "npm install -g openclaw",
		MCP:     MCPNone, // refuses a session with a server
	},
	{
		Name: "opencode", Title: "OpenCode",
		Command:           []string{"npx", "-y", "opencode-ai", "acp"},
		Installed:         []string{"opencode", "acp"},
		Agents:            []string{"opencode"},
		Install:           needsNode + ", or npm install -g opencode-ai",
		KeepsFailedPrompt: true,
	},
	{
		Name: "pi", Title: "Pi",
		Command:   []string{"npx", "pi-acp@^0.0.33"},
		Installed: []string{"pi-acp"},
		Agents:    []string{"pi-acp", "pi"},
		Install:   needsNode + ", and npm install -g @earendil-works/pi-coding-agent",
		MCP:       MCPNone, // ignores servers
	},
	{
		Name: "pool", Title: "Poolside",
		Command: []string{"pool", "acp"},
		Agents:  []string{"pool", "poolside"},
		Install: "install Poolside's CLI",
	},
	{
		Name: "qoder", Title: "Qoder",
		Command:  []string{"qodercli", "--acp"},
		Agents:   []string{"qoder", "qodercli", "qoder cli"},
		Install:  "npm install -g @qoder-ai/qodercli",
		MinGrace: 750 * time.Millisecond, // as acpx has it
		prepare:  limitQoder,
	},
	{
		Name: "qwen", Title: "Qwen Code",
		Command:           []string{"qwen", "--acp"},
		Agents:            []string{"qwen-code", "qwen code", "qwen"},
		Install:           "npm install -g @qwen-code/qwen-code",
		KeepsFailedPrompt: true,
		AsksForTools:      true,
	},
	{
		Name: "trae", Title: "Trae",
		Command: []string{"traecli", "acp", "serve"},
		Agents:  []string{"trae", "traecli", "trae-cli"},
		Install: "install the Trae CLI",
	},
	{
		Name: "zeroclaw", Title: "ZeroClaw",
		Command: []string{"zeroclaw", "acp"},
		Agents:  []string{"zeroclaw"},
		Install: "install ZeroClaw",
	},
}

// aliases are acpx's.
var aliases = map[string]string{"factory-droid": "droid", "factorydroid": "droid"}

func antigravity() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"agy_acp_server.exe"}
	case "linux":
		return []string{"agy_acp_server.par", "--uid="}
	}
	return []string{"agy_acp_server.par"}
}
