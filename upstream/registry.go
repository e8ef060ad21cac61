package upstream

import (
	"encoding/json"
	"runtime"
	"sync"
	"time"
)

// NeedsNode says what an agent that npx fetches is missing.
const NeedsNode = "install Node.js 22 or newer (https://nodejs.org), which brings npx"

// registry has the agents of acpx 0.19.1 with their command lines (its src/agent-registry.ts), but has npx run the
// newest version of a package, where acpx has version ranges of the day of its release; and auggie and cline. The other
// fields were measured on the real programs (docs/facts/agents.md). Nobody changes what it returns.
var registry = sync.OnceValue(func() []Profile {
	return []Profile{
		{
			Name: "antigravity", Title: "Google Antigravity",
			Command: antigravity(),
			Agents:  []string{"antigravity-acp"},
			Install: "install Google Antigravity's ACP server",
		},
		{
			Name: "auggie", Title: "Auggie",
			Command:   []string{"npx", "-y", "@augmentcode/auggie@latest", "--acp"},
			Installed: []string{"auggie", "--acp"},
			Install:   NeedsNode + ", or npm install -g @augmentcode/auggie; then auggie login",
		},
		{
			Name: "claude", Title: "Claude Code",
			Command:           []string{"npx", "-y", "@agentclientprotocol/claude-agent-acp@latest"},
			Installed:         []string{"claude-agent-acp"},
			Agents:            []string{"@zed-industries/claude-agent-acp", "@zed-industries/claude-code-acp"},
			Install:           NeedsNode + ", or npm install -g @agentclientprotocol/claude-agent-acp",
			KeepsFailedPrompt: true,
			Cancelled:         CancelledBegun,
			KeptAfter:         time.Second,
			AsksForTools:      true,
			UnaskedModes:      []string{"auto"}, // a classifier decides
			OpeningMode:       "auto",           // from 0.101.0 on
			SystemPrompt:      true,
			MetaSystemPrompt:  true,
			CostStartsAnew:    true,
			CheapModels:       []string{"haiku"},
			// Without them Claude loads the user's own hooks and plugins, Signet's among them.
			SettingSources: []string{"project", "local"},
			ReadMode:       "plan",
			Homes: []Home{{Variable: "CLAUDE_CONFIG_DIR", Folder: ".claude",
				Login: []string{".credentials.json"}}},
			Variables: []string{"ANTHROPIC_*", "CLAUDE_CODE_*", "DISABLE_*", "ENABLE_TOOL_SEARCH"},
		},
		{
			Name: "cline", Title: "Cline",
			Command:   []string{"npx", "-y", "cline@latest", "--acp"},
			Installed: []string{"cline", "--acp"},
			Install:   NeedsNode + ", or npm install -g cline",
		},
		{
			Name: "codex", Title: "Codex",
			Command:           []string{"npx", "-y", "@agentclientprotocol/codex-acp@latest"},
			Installed:         []string{"codex-acp"},
			Agents:            []string{"@zed-industries/codex-acp"},
			Install:           NeedsNode + ", or npm install -g @agentclientprotocol/codex-acp",
			KeepsFailedPrompt: true,
			Cancelled:         CancelledBegun,
			KeptAfter:         500 * time.Millisecond,
			SaysActive:        true,
			KeepsMessages:     20_000,
			MessageIDs:        true,
			TitleLength:       4000,
			SystemPrompt:      true,
			ReadMode:          "read-only",
			Sandbox:           true,
			CheapModels:       []string{"luna", "mini"},
			Homes:             []Home{{Variable: "CODEX_HOME", Folder: ".codex", Login: []string{"auth.json"}}},
			Variables:         []string{"OPENAI_*", "CODEX_API_KEY"},
			Bounded:           []string{"INITIAL_AGENT_MODE=agent-full-access"}, // the others mount
		},
		{
			Name: "copilot", Title: "GitHub Copilot",
			Command:       []string{"copilot", "--acp", "--stdio"},
			Install:       "npm install -g @github/copilot",
			Cancelled:     CancelledBegun,
			KeepsMessages: allMessages,
			MCP:           MCPHTTP,
			TokensAddUp:   true,
			Homes:         []Home{{Variable: "COPILOT_HOME", Folder: ".copilot", Login: []string{"config.json"}}},
			Variables:     []string{"COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"},
		},
		{
			Name: "cursor", Title: "Cursor",
			Command: []string{"cursor-agent", "acp"},
			Agents:  []string{"cursor-agent", "cursor agent"},
			Install: "install the Cursor CLI (https://cursor.com/cli)",
		},
		{
			Name: "devin", Title: "Devin",
			Command:    []string{"devin", "acp"},
			Install:    "install the Devin CLI",
			MCP:        MCPNone, // refuses session/load with a server
			ClientInfo: json.RawMessage(`{"name":"windsurf","version":"1.110.1"}`),
			ClientMeta: json.RawMessage(`{"cognition.ai/requestDiagnostics":true}`),
			Answers:    []string{"_cognition.ai/request_diagnostics"},
		},
		{
			Name: "droid", Title: "Factory Droid",
			Command: []string{"droid", "exec", "--output-format", "acp"},
			Agents:  []string{"@factory/cli"},
			Install: "npm install -g droid (https://docs.factory.ai)",
		},
		{
			Name: "fast-agent", Title: "Fast Agent",
			Command: []string{"uvx", "fast-agent-mcp", "acp"},
			Install: "install uv (https://docs.astral.sh/uv), which brings uvx",
		},
		{
			Name: "fx", Title: "fx",
			Command: []string{"fx", "acp"},
			Install: "install fx",
		},
		{
			Name: "gemini", Title: "Gemini CLI",
			Command: []string{"gemini", "--acp"},
			Agents:  []string{"gemini-cli"},
			Install: "npm install -g @google/gemini-cli",
			// With an MCP server, so with ours, it never ends by itself; TERM ends it within 0.1 s.
			Grace:        time.Second,
			Cancelled:    CancelledForgot,
			AsksForTools: true,
			ReadMode:     "plan",
			CheapModels:  []string{"flash-lite", "flash"},
			Homes:        []Home{{Folder: ".gemini", Login: []string{"oauth_creds.json", "google_accounts.json"}}},
			Variables:    []string{"GEMINI_*", "GOOGLE_API_KEY", "GOOGLE_GEMINI_*", "GOOGLE_GENAI_*", "GOOGLE_CLOUD_*"},
		},
		{
			Name: "grok-build", Title: "Grok Build",
			Command: []string{"grok", "agent", "stdio"},
			Agents:  []string{"grok"},
			Install: "npm install -g @xai-official/grok",
		},
		{
			Name: "iflow", Title: "iFlow",
			Command: []string{"iflow", "--experimental-acp"},
			Install: "install the iFlow CLI (https://cli.iflow.cn)",
		},
		{
			Name: "junie", Title: "Junie",
			Command: []string{"junie", "--acp=true"},
			Install: "install JetBrains Junie's CLI",
		},
		{
			Name: "kilocode", Title: "Kilo Code",
			Command:   []string{"npx", "-y", "@kilocode/cli@latest", "acp"},
			Installed: []string{"kilo", "acp"},
			Agents:    []string{"kilo"},
			Install:   NeedsNode + ", or npm install -g @kilocode/cli",
		},
		{
			Name: "kimi", Title: "Kimi Code",
			Command:      []string{"kimi", "acp"},
			Agents:       []string{"kimi code cli", "kimi-cli"},
			Install:      "npm install -g @moonshot-ai/kimi-code, with Node.js 22.19 or newer",
			AsksForTools: true,
			UnaskedModes: []string{"auto", "yolo"},
			Cancelled:    CancelledKept,
			ReadMode:     "plan",
		},
		{
			Name: "kiro", Title: "Kiro",
			Command: []string{"kiro-cli-chat", "acp"},
			Agents:  []string{"kiro cli agent", "kiro agent"},
			Install: "install the Kiro CLI (https://kiro.dev/docs/cli)",
		},
		{
			Name: "mcode", Title: "MCode",
			Command: []string{"mcode", "acp"},
			Install: "install MCode",
		},
		{
			Name: "mux", Title: "Mux",
			Command: []string{"npx", "-y", "mux@latest", "acp"},
			Install: NeedsNode,
		},
		{
			Name: "openclaw", Title: "OpenClaw",
			Command: []string{"openclaw", "acp"},
			Agents:  []string{"openclaw-acp"},
			Install: "npm install -g openclaw",
			MCP:     MCPNone, // refuses a session with a server
		},
		{
			Name: "opencode", Title: "OpenCode",
			Command:           []string{"npx", "-y", "opencode-ai@latest", "acp"},
			Installed:         []string{"opencode", "acp"},
			Install:           NeedsNode + ", or npm install -g opencode-ai",
			KeepsFailedPrompt: true,
			Cancelled:         CancelledKept,
			CompactCommands:   []string{"compact", "summarize"},
			SaysSummary:       true,
			ReadMode:          "plan",
			Homes:             []Home{{Folder: ".local/share/opencode", Login: []string{"auth.json"}}},
			Variables:         []string{"OPENCODE_*"},
		},
		{
			Name: "pi", Title: "Pi",
			Command:           []string{"npx", "-y", "pi-acp@latest"},
			Installed:         []string{"pi-acp"},
			Install:           NeedsNode + ", and npm install -g @earendil-works/pi-coding-agent",
			MCP:               MCPNone, // ignores servers
			KeepsFailedPrompt: true, Cancelled: CancelledKept,
			Homes: []Home{{Variable: "PI_CODING_AGENT_DIR", Folder: ".pi/agent",
				Login: []string{"auth.json", "models.json"}}}, // models.json has keys of providers
			Variables: []string{"PI_*"},
		},
		{
			Name: "pool", Title: "Poolside",
			Command: []string{"pool", "acp"},
			Install: "install Poolside's CLI",
		},
		{
			Name: "qoder", Title: "Qoder",
			Command:  []string{"qodercli", "--acp"},
			Agents:   []string{"qoder-cli", "qoder-cli-cn"},
			Install:  "npm install -g @qoder-ai/qodercli",
			Grace:    time.Second,            // without a login it never ends by itself
			MinGrace: 750 * time.Millisecond, // as acpx has it
		},
		{
			Name: "qwen", Title: "Qwen Code",
			Command:           []string{"qwen", "--acp"},
			Agents:            []string{"qwen-code"},
			Install:           "npm install -g @qwen-code/qwen-code",
			Cancelled:         CancelledBegun,
			KeptAfter:         time.Second,
			KeepsFailedPrompt: true,
			CompactCommands:   []string{"compress", "summarize"},
			AsksForTools:      true,
			ReadMode:          "plan",
			Homes:             []Home{{Folder: ".qwen", Login: []string{"oauth_creds.json"}}},
			Variables:         []string{"QWEN_*", "OPENAI_*", "DASHSCOPE_API_KEY"},
		},
		{
			Name: "trae", Title: "Trae",
			Command: []string{"traecli", "acp", "serve"},
			Install: "install the Trae CLI",
		},
		{
			Name: "zeroclaw", Title: "ZeroClaw",
			Command: []string{"zeroclaw", "acp"},
			Install: "install ZeroClaw",
		},
	}
})

// aliases are other names for harnesses: acpx's, and those of their programs and pages.
var aliases = map[string]string{"factory-droid": "droid", "factorydroid": "droid", "claude-code": "claude",
	"codex-cli": "codex", "cursor-agent": "cursor"}

func antigravity() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"agy_acp_server.exe"}
	case "linux":
		return []string{"agy_acp_server.par", "--uid="}
	}
	return []string{"agy_acp_server.par"}
}
