package embedded

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/files"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Identity that a harness reads by itself is not told twice: Signet's connectors write the identity files into the
// files that harnesses read, whole or as a part.

// projectFiles are the files that harnesses look for in the working directory and in those above it.
var projectFiles = []string{"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md",
	filepath.Join(".claude", "CLAUDE.md")}

// homeFiles are the files that a harness reads for every project: below home, and in the folder that a variable of the
// environment names.
var homeFiles = map[string]struct {
	below          []string
	variable, file string
}{
	"claude":   {[]string{".claude/CLAUDE.md"}, "CLAUDE_CONFIG_DIR", "CLAUDE.md"},
	"codex":    {[]string{".codex/AGENTS.md", ".codex/AGENTS.override.md"}, "CODEX_HOME", "AGENTS.md"},
	"opencode": {[]string{".config/opencode/AGENTS.md", ".claude/CLAUDE.md"}, "XDG_CONFIG_HOME", "opencode/AGENTS.md"},
	"gemini":   {below: []string{".gemini/GEMINI.md"}},
	"qwen":     {below: []string{".qwen/QWEN.md"}},
	"pi":       {below: []string{".pi/agent/AGENTS.md"}},
}

// namesOf returns the words of a harness's name, which may be the one that the agent gives itself, as in
// "@agentclientprotocol/claude-agent-acp".
func namesOf(harness string) []string {
	return strings.FieldsFunc(strings.ToLower(harness),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// harnessReads returns the texts that a harness working in cwd reads by itself, with white space folded.
func harnessReads(harness, cwd string) (known []string) {
	var names []string
	if filepath.IsAbs(cwd) && len(cwd) <= memory.MaxPath {
		for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
			for _, name := range projectFiles {
				names = append(names, filepath.Join(dir, name))
			}
			if filepath.Dir(dir) == dir {
				break
			}
		}
	}
	if home, err := memory.Home(); err == nil {
		for _, name := range namesOf(harness) {
			its := homeFiles[name]
			for _, file := range its.below {
				names = append(names, filepath.Join(home, filepath.FromSlash(file)))
			}
			if moved := os.Getenv(its.variable); moved != "" {
				names = append(names, filepath.Join(moved, filepath.FromSlash(its.file)))
			}
		}
	}
	for _, name := range names {
		if text, err := files.Text(name, 4*identityBytes); err == nil && text != "" {
			known = append(known, chars.OneLine(text))
		}
	}
	return known
}

// identityBytes is how much of a file is read: more than is ever told.
const identityBytes = 64 << 10

// AgentNotesSession is the Session of memories that were imported from the files in which an agent keeps notes for
// itself.
func AgentNotesSession(agent string) string { return "agent:" + agent }

// withoutOwnNotes leaves out items that were imported from the notes of this harness, which reads them by itself.
func (s *Store) withoutOwnNotes(ctx context.Context, harness string, items []memory.Item) ([]memory.Item, error) {
	if len(items) == 0 {
		return items, nil
	}
	var ids, own []string
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	for _, name := range namesOf(harness) {
		own = append(own, AgentNotesSession(name))
	}
	known, err := sqlite.Collect(ctx, s.db, sqlite.One[string], `SELECT uid FROM memories
		WHERE uid IN (SELECT value FROM json_each(?)) AND key IN (SELECT value FROM json_each(?))`,
		sqlite.List(ids), sqlite.List(own))
	if err != nil {
		return nil, sqlite.While("leaving out what the agent has", err)
	}
	return slices.DeleteFunc(items, func(it memory.Item) bool { return slices.Contains(known, it.ID) }), nil
}
