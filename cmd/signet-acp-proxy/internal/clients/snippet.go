package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/chars"
)

func member(s snippet) string {
	return quoted(s.name()) + ": {" + s.client.Fields + s.client.entryFields(s.command) + "}"
}

// entryFields returns a command line as the fields of an entry: command, args, and env where the client needs one.
func (c client) entryFields(command []string) string {
	fields := `"command": ` + quoted(command[0]) + `, "args": [` + list(command[1:], quoted, ", ") + "]"
	if c.KeepsPATH {
		fields += `, "env": {"PATH": ` + quoted(lastingPATH(os.Getenv("PATH"))) + "}"
	}
	return fields
}

// lastingPATH leaves out of PATH what is there for one command or one project alone.
func lastingPATH(path string) string {
	var kept []string
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && !strings.Contains(filepath.ToSlash(dir), "/node_modules/") {
			kept = append(kept, dir)
		}
	}
	return strings.Join(kept, string(filepath.ListSeparator))
}

func list(words []string, quote func(string) string, between string) string {
	quotedWords := make([]string, len(words))
	for i, word := range words {
		quotedWords[i] = quote(word)
	}
	return strings.Join(quotedWords, between)
}

// Lua, Emacs Lisp and TOML take JSON's strings as far as a command line needs them.

func codeCompanion(s snippet) string {
	return fmt.Sprintf(`require("codecompanion").setup({
  adapters = {
    acp = {
      [%s] = function()
        return require("codecompanion.adapters").extend(%s, {
          commands = { default = { %s } },
        })
      end,
    },
  },
})
`, quoted(s.name()), quoted(codeCompanionAdapter(s.harness)), list(s.command, quoted, ", "))
}

// codeCompanionAdapter is the adapter of CodeCompanion that is extended: its own for the agent, where it has one.
func codeCompanionAdapter(harness string) string {
	switch harness {
	case "claude":
		return "claude_code"
	case "codex", "opencode", "kimi":
		return harness
	}
	return "gemini_cli"
}

func provider(s snippet) string {
	return fmt.Sprintf(`acp_providers = {
  [%s] = {
    command = %s,
    args = { %s },
    env = { HOME = os.getenv("HOME") },
  },
},
`, quoted(s.name()), quoted(s.command[0]), list(s.command[1:], quoted, ", "))
}

func hermes(s snippet) string {
	return fmt.Sprintf(`require("hermes").connect(%s, { command = %s, args = { %s } })
`, quoted(s.name()), quoted(s.command[0]), list(s.command[1:], quoted, ", "))
}

func agentShell(s snippet) string {
	name := s.harness
	switch name {
	case "gemini":
		name = "google-gemini"
	case "claude":
		name = "anthropic-claude"
	case "codex":
		name = "openai-codex"
	}
	return fmt.Sprintf("(setq agent-shell-%s-acp-command '(%s))\n", name, list(s.command, quoted, " "))
}

func form(s snippet) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Name:       %s\nCommand:    %s\n", s.name(), s.command[0])
	if s.client.Name == "obsidian" {
		fmt.Fprintf(&b, "Arguments, one a line:\n  %s\n", strings.Join(s.command[1:], "\n  "))
	} else {
		fmt.Fprintf(&b, "Arguments:  %s\n", list(s.command[1:], chars.ShellWord, " "))
	}
	return b.String()
}

func toad(s snippet) string {
	return "toad acp " + chars.ShellWord(list(s.command, chars.ShellWord, " ")) + " .\n"
}

// marimoPorts are those that marimo's page connects to.
var marimoPorts = map[string]int{"claude": 3017, "gemini": 3019, "codex": 3021, "opencode": 3023, "cursor": 3025}

func marimo(s snippet) string {
	port, known := marimoPorts[s.harness]
	if !known {
		return fmt.Sprintf("# marimo has no place for %s: its agents are claude, codex, cursor, gemini and opencode\n",
			s.harness)
	}
	return fmt.Sprintf("npx stdio-to-ws %s --port %d\n", chars.ShellWord(list(s.command, chars.ShellWord, " ")), port)
}

func nori(s snippet) string {
	return fmt.Sprintf(`[[agents]]
name = %s
slug = %[1]s
[agents.distribution.local]
command = %s
args = [%s]
`, quoted(s.name()), quoted(s.command[0]), list(s.command[1:], quoted, ", "))
}

func jupyter(s snippet) string {
	return fmt.Sprintf("export ACP_AGENT_COMMAND=%s\nexport ACP_AGENT_ARGS=%s\n", chars.ShellWord(s.command[0]),
		chars.ShellWord(strings.Join(s.command[1:], " ")))
}
