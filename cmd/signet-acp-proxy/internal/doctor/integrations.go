package doctor

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// integrations checks harnesses for Signet's own integrations, which would inject beside us.
func (e *examination) integrations() []finding {
	home, err := memory.Home()
	if err != nil {
		return nil
	}
	config := folder("XDG_CONFIG_HOME", home, ".config")
	places := []struct {
		agent   string
		globs   []string
		mention bool // the file has other settings, too: it counts if it names Signet
		deaf    bool // the integration ignores SIGNET_NO_HOOKS
	}{
		{"claude", []string{filepath.Join(folder("CLAUDE_CONFIG_DIR", home, ".claude"), "settings*.json")}, true, false},
		{"codex", []string{filepath.Join(folder("CODEX_HOME", home, ".codex"), "hooks.json"),
			filepath.Join(folder("CODEX_HOME", home, ".codex"), "config.toml")}, true, false},
		{"gemini", []string{filepath.Join(home, ".gemini", "settings.json")}, true, false},
		{"opencode", []string{filepath.Join(config, "opencode", "plugin*", "*signet*")}, false, true},
		{"opencode", []string{filepath.Join(config, "opencode", "opencode.json*")}, true, true},
		{"openclaw", []string{filepath.Join(home, ".openclaw", "openclaw.json")}, true, true},
	}
	var found []finding
	for _, p := range places {
		if !e.c.Agent(p.agent).Inject {
			continue
		}
		for _, glob := range p.globs {
			files, err := filepath.Glob(glob)
			if err != nil {
				continue // a home with brackets in its name
			}
			for _, file := range files {
				if p.mention && !hooksSignet(file, p.deaf) {
					continue
				}
				found = append(found, e.integration(p.agent, file, p.deaf)...)
			}
		}
	}
	if found == nil {
		return fine("no conflicting hooks")
	}
	return found
}

// integration says whether an integration injects beside us. A deaf one does, whatever hooks is.
func (e *examination) integration(agent, file string, deaf bool) []finding {
	switch {
	case deaf:
		return problem("remove it, or set acp: agents: "+agent+": inject: off",
			"%s has Signet's own plugin (%s), which also inserts context", agent, file)
	case e.c.Hooks != "disabled":
		return problem("set hooks: disabled, or acp: agents: "+agent+": inject: off",
			"%s has Signet's own hooks (%s), and hooks is %s: context is inserted twice", agent, file, e.c.Hooks)
	}
	return fine("%s has Signet's own hooks (%s); they are disabled under the proxy", agent, file)
}

// folder returns the folder that a variable names, else name below home.
func folder(variable, home, name string) string {
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	return filepath.Join(home, name)
}

// hooksSignet reports whether a settings file runs Signet's hooks or, with plugin, loads its plugin. The signet MCP
// server, or our own program, may stand in it.
func hooksSignet(file string, plugin bool) bool {
	text, err := files.Read(file)
	if err != nil {
		return false
	}
	text = bytes.ToLower(text)
	if plugin {
		return bytes.Contains(text, []byte(`"signet`)) && (bytes.Contains(text, []byte(`"plugin`)) ||
			bytes.Contains(text, []byte(`"plugins`))) || bytes.Contains(text, []byte("@signet"))
	}
	return bytes.Contains(text, []byte("signet hook")) || bytes.Contains(text, []byte("signet-hook"))
}
