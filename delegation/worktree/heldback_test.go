package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What runs or steers programs on the user's side comes back only where a person says so; the rest does at once.
func TestApplyHoldsBack(t *testing.T) {
	pkg := func(scripts string) string { return `{"name":"x","scripts":{` + scripts + `}}` }
	for name, held := range map[string]bool{
		".claude/settings.json": true, "deep/.Claude/commands/x.md": true, ".MCP.json": true, ".vscode/tasks.json": true,
		".idea/x.xml": true, "x.code-workspace": true, ".envrc": true, "AGENTS.md": true, "docs/agents.MD": true,
		"CLAUDE.md": true, "GEMINI.md": true, ".cursorrules": true, ".github/workflows/ci.yml": true,
		".github/copilot-instructions.md": true, ".gitlab-ci.yml": true, "Jenkinsfile": true, ".husky/pre-commit": true,
		"tools/hooks/pre-push": true, "Tools/Hooks/pre-push": true, ".npmrc": true,
		"x.sublime-project": true, "lefthook-local.yml": true, ".lefthook.toml": true,
		"claude.md.txt": false, "notes/agents.txt": false, ".github/README.md": false, "tools/other": false,
		"sub/HEAD": true, "head/x.go": false, "vscode/x.json": false, "src/mcp.go": false,
	} {
		applyOne(t, name, held, func(own string) { write(t, own, map[string]string{name: "theirs"}) })
	}
	for target, held := range map[string]bool{
		"a.txt": false, "sub/heron.txt": false, "../up": true, "/etc/passwd": true, "sub/../a.txt": true, ".git/config": true,
	} {
		applyOne(t, "pointer", held, func(own string) { link(t, own, target, "pointer") })
	}
	for text, held := range map[string]bool{
		pkg(`"test":"x"`): false, pkg(``): false, `{"name":"y"}`: false, pkg(`"test":"y"`): true,
		pkg(`"test":"x","postinstall":"y"`): true, `{"scripts":`: true,
	} {
		applyOne(t, "package.json", held, func(own string) { write(t, own, map[string]string{"package.json": text}) })
	}
	applyOne(t, "sub", true, func(own string) {
		must(t, os.RemoveAll(filepath.Join(own, "sub")))
		link(t, own, "/etc", "sub")
	})
}

// applyOne applies a change of one name beside another of plain.txt.
func applyOne(t *testing.T, name string, isHeld bool, change func(own string)) {
	t.Helper()
	dir := repo(t)
	write(t, dir, map[string]string{"package.json": `{"scripts":{"test":"x"}}`})
	run(t, dir, "config", "core.hooksPath", "tools/hooks")
	run(t, dir, "add", "-A")
	f := make1(t, dir, Options{Edit: true})
	change(f.Cwd)
	write(t, f.Cwd, map[string]string{"plain.txt": "plain"})
	_, err := f.Finish(t.Context(), "m")
	must(t, err)
	r, err := Open(t.Context(), filepath.Dir(f.root), f.root)
	must(t, err)
	before, beforeHeron := at(dir, name), read(dir, "sub/heron.txt")
	_, held, err := r.Apply(t.Context(), ApplyOptions{})
	is := slices.ContainsFunc(held, func(h Held) bool { return h.File == name && h.Why != "" })
	if err != nil || is != isHeld || isHeld != (at(dir, name) == before) || read(dir, "plain.txt") != "plain" ||
		isHeld && read(dir, "sub/heron.txt") != beforeHeron || r.Applied(t.Context()) == isHeld {
		t.Errorf("%s: held back %v, %v; stands as %q", name, held, err, at(dir, name))
	}
	if _, held, err = r.Apply(t.Context(), ApplyOptions{Steering: true}); err != nil || len(held) > 0 || at(dir, name) == before ||
		!r.Applied(t.Context()) {
		t.Errorf("%s, with settings: %v, %v; stands as %q", name, held, err, at(dir, name))
	}
}

// at returns what stands at a name: a file's text, or where a link leads.
func at(dir, name string) string {
	if to, err := os.Readlink(filepath.Join(dir, name)); err == nil {
		return "link to " + to
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return "nothing"
	}
	return string(text)
}
