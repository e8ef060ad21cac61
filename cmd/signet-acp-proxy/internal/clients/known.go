package clients

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// All are the clients that we know, those first whose file setup writes.
var All = []client{
	{
		Name: "acpx", Title: "acpx", Programs: []string{"acpx"}, Signs: []string{".acpx"},
		Path:    func(on system) string { return filepath.Join(on.home, ".acpx", "config.json") },
		Section: "agents", Reload: "acpx reads the file at each start",
		Where: "`agents` in `~/.acpx/config.json`", Snippet: member,
	},
	{
		Name: "zed", Title: "Zed", Programs: []string{"zed", "zeditor"},
		Signs:   []string{".config/zed", "AppData/Roaming/Zed"},
		Path:    zedSettings,
		Section: "agent_servers", Fields: `"type": "custom", `, Comments: true, Desktop: true,
		ByName: []string{"cursor"},
		Reload: "Zed reads the file when it changes; the agent panel then offers the agent for a new thread",
		Where:  "`agent_servers` in Zed's `settings.json`", Snippet: member,
	},
	{
		Name: "jetbrains", Title: "JetBrains IDEs",
		Signs: []string{
			".jetbrains", ".config/JetBrains", "Library/Application Support/JetBrains", "AppData/Roaming/JetBrains",
		},
		Path:    func(on system) string { return filepath.Join(on.home, ".jetbrains", "acp.json") },
		Section: "agent_servers", Comments: true, Desktop: true, KeepsPATH: true,
		Reload: "restart the IDE, or press Add Custom Agent and close the file",
		Where:  "`agent_servers` in `~/.jetbrains/acp.json`", Snippet: member,
		Notes: "Needs an IDE of 2025.3 or newer with AI Assistant. One file serves all of them. " +
			"The entry contains " +
			"your PATH, because desktop programs have a shorter one: when it changes, run setup again. In remote " +
			"development, use the file on the host.",
	},
	{
		Name: "vscode", Title: "VS Code", Signs: []string{".vscode/extensions/formulahendry.*acp*"},
		Path:    func(on system) string { return filepath.Join(on.config(), "Code", "User", "settings.json") },
		Section: "acp.agents", Comments: true, Desktop: true,
		Reload: "the extension reads the file when it changes",
		Where:  "`acp.agents` in the user's `settings.json`", Snippet: member,
		Notes: "With the extension ACP Client. VSCodium, Cursor and profiles have settings files of their own: " +
			"`--for vscode` prints the entry for them. Your shell's profile must print " +
			"nothing: the client would read it as a message.",
	},
	{
		Name: "acp-ui", Title: "acp-ui",
		Signs:   []string{".config/acp-ui", "Library/Application Support/acp-ui", "AppData/Roaming/acp-ui"},
		Path:    func(on system) string { return filepath.Join(on.config(), "acp-ui", "agents.json") },
		Section: "agents", Desktop: true, Reload: "acp-ui reads the file when it changes",
		Where: "`agents` in its `agents.json`", Snippet: member,
	},
	{
		Name: "codecompanion", Title: "CodeCompanion (Neovim)",
		Where: "`adapters.acp` of its setup, in Lua", Snippet: codeCompanion,
		Notes: "It waits 20 seconds for an agent's first answer: install the agent, so that nothing has to be " +
			"downloaded.",
	},
	{
		Name: "avante", Title: "avante (Neovim)", Where: "`acp_providers` of its setup, in Lua", Snippet: provider,
		Notes: "Agents get only PATH and what `env` names, not HOME.",
	},
	{
		Name: "agentic", Title: "agentic (Neovim)", Where: "`acp_providers` of its setup, in Lua", Snippet: provider,
		Notes: "Agents get only PATH and what `env` names, not HOME.",
	},
	{Name: "hermes", Title: "hermes (Neovim)", Where: "your Lua", Snippet: hermes},
	{
		Name: "agent-shell", Title: "agent-shell (Emacs)", Where: "your init file", Snippet: agentShell,
		Notes: "Each agent has a variable of its own. Do not use " +
			"`agent-shell-command-prefix`: it also applies to commands that the agent runs in a terminal.",
	},
	{
		Name: "obsidian", Title: "Obsidian Agent Client",
		Where: "Settings › Agent Client › Add custom agent", Snippet: form,
		Notes: "It rewrites its data.json at each change, so setup does not edit it. " +
			"\"Command not found\" for our program (exit 127) means that the agent is missing.",
	},
	{
		Name: "toad", Title: "Toad", Where: "a shell, in the project's folder", Snippet: toad,
	},
	{
		Name: "marimo", Title: "marimo", Where: "a shell, before you choose the agent in the notebook", Snippet: marimo,
		Notes: "The notebook connects to a fixed port for each agent. A reload of the page is a new session.",
	},
	{
		Name: "qtcreator", Title: "Qt Creator", Where: "Preferences › AI › ACP Servers › Custom", Snippet: form,
	},
	{Name: "nori", Title: "nori", Where: "`~/.nori/cli/config.toml`", Snippet: nori},
	{Name: "jupyter", Title: "Jupyter (agent-client-kernel)",
		Where: "the environment that Jupyter starts in", Snippet: jupyter,
		Notes: "It splits arguments at spaces, so paths must not contain any."},
	{Name: "aionui", Title: "AionUi", Where: "Settings › Agents › Custom agent", Snippet: form},
	{Name: "deepchat", Title: "DeepChat", Where: "Settings › ACP › Custom agent", Snippet: form},
}

// Named returns a client by its name.
func Named(name string) (client, bool) {
	i := slices.IndexFunc(All, func(c client) bool { return c.Name == name })
	if i < 0 {
		return client{}, false
	}
	return All[i], true
}

// Names are the clients whose files we write.
func Names() []string { return namesOf(func(c client) bool { return c.Path != nil }) }

// Snippets are the clients that something can be pasted into.
func Snippets() []string { return namesOf(func(client) bool { return true }) }

func namesOf(which func(client) bool) (names []string) {
	for _, c := range All {
		if which(c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Found lists the clients that are on this machine and whose files we write: what they leave below home or their
// program is there.
func Found() []string {
	home, err := memory.Home()
	if err != nil {
		return nil
	}
	there := func(sign string) bool {
		found, err := filepath.Glob(filepath.Join(home, filepath.FromSlash(sign)))
		return err == nil && len(found) > 0
	}
	return namesOf(func(c client) bool {
		return c.Path != nil && (slices.ContainsFunc(c.Signs, there) || slices.ContainsFunc(c.Programs, OnPath))
	})
}

// WithoutClient says what to do where no client is found.
func WithoutClient(c *config.Config) string {
	acpx := "npm install -g acpx@latest, then signet-acp-proxy init"
	if OnPath("npx") {
		agent, named := "claude", " claude" // which npx fetches
		if here := Installed(c); len(here) > 0 {
			agent, named = here[0], ""
		}
		acpx = "signet-acp-proxy setup acpx" + named + ", then npx -y acpx@latest " + Prefix + agent + " in a terminal"
	}
	return acpx + "; or signet-acp-proxy setup print AGENT --for CLIENT for any other client"
}

// ByNPX says how to do without an installed agent; "" where npx is missing.
func ByNPX() string {
	if !OnPath("npx") {
		return ""
	}
	return ", or let npx fetch one: signet-acp-proxy setup CLIENT claude"
}

// zedSettings: Zed keeps to ~/.config on macOS, too.
func zedSettings(on system) string {
	dir := "zed"
	switch on.os {
	case "windows":
		dir = "Zed"
	case "darwin":
		on.os = ""
		on.env = func(string) string { return "" }
	}
	return filepath.Join(on.config(), dir, "settings.json")
}

// Snippet returns what goes into a client by hand, for each harness. The error is nil but for a name that is unknown.
func Snippet(c *config.Config, name string, harnesses []string) (string, error) {
	if name == "" {
		return members(c, client{}, harnesses), nil
	}
	to, known := Named(name)
	if !known {
		return "", fmt.Errorf("unknown client %q: use one of %s", name, strings.Join(Snippets(), ", "))
	}
	if to.Path != nil {
		return members(c, to, harnesses), nil
	}
	var all []string
	for _, harness := range harnesses {
		all = append(all, to.Snippet(snippet{to, harness, to.full(Command(c, harness))}))
	}
	return strings.Join(all, "\n"), nil
}

// members are the entries of a JSON object.
func members(c *config.Config, to client, harnesses []string) string {
	var lines []string
	for _, name := range harnesses {
		lines = append(lines, "  "+member(snippet{to, name, to.inFull(Command(c, name))}))
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}\n"
}
