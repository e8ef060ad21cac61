package install

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Next says where conversations are saved from now on, and what to do next.
func (s Steps) Next() error {
	s.say("Conversations are saved in %s, on this machine only. To list them: signet-acp-proxy sessions. To remove "+
		"one: signet-acp-proxy forget SESSION. To turn it off: memory: off in %s.",
		memory.HomeShort(s.Config.DB), memory.HomeShort(filepath.Join(s.Config.SignetPath, "agent.yaml")))
	for _, name := range []string{"claude", "codex"} {
		if clients.OnPath(name) {
			s.say("If you start %s by itself in a terminal, it has no memory yet: only clients go through this "+
				"program. To give it the memory tools: %[1]s mcp add signet -- signet-acp-proxy mcp. To import its "+
				"history automatically: signet-acp-proxy config set backfill auto.", name)
			break
		}
	}
	s.say("Next: describe your agent in %s and yourself in USER.md.",
		memory.HomeShort(filepath.Join(s.Config.SignetPath, "IDENTITY.md")))
	return s.begin()
}

// begin names the one thing to do now: a command to type, or where to click.
func (s Steps) begin() error {
	for _, name := range clients.Found() {
		file, err := clients.Open(name)
		if err != nil {
			return err
		}
		entries, err := file.Entries()
		if err != nil {
			return err
		}
		i := slices.IndexFunc(entries, func(e clients.Entry) bool { return e.Ours() })
		if i < 0 {
			continue
		}
		if name != "acpx" {
			s.say("Now: in %s choose %s for a new conversation (%s).", file.Title, entries[i].Name, file.Reload)
			return nil
		}
		acpx := "acpx"
		if !clients.OnPath(acpx) {
			acpx = "npx -y acpx@latest"
		}
		s.say("Now type:")
		fmt.Fprintf(s.Std.Out, "  %s %s exec \"What do you know about me?\"\n", acpx, entries[i].Name)
		return nil
	}
	return nil
}
