package worktree

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// traps are settings that have git run a program, %[1]s, which notes that it ran under the name behind it.
const traps = `
[core]
	fsmonitor = %[1]s fsmonitor
	hooksPath = %[2]s
	editor = %[1]s editor
	pager = %[1]s pager
	sshCommand = %[1]s ssh
	askPass = %[1]s askpass
	alternateRefsCommand = %[1]s alternates
	attributesFile = %[2]s/attributes
[credential]
	helper = !%[1]s credential
[filter "trap"]
	clean = %[1]s clean
	smudge = %[1]s smudge
	required = true
[filter "process"]
	process = %[1]s process
[diff]
	external = %[1]s external
[diff "trap"]
	command = %[1]s diff
	textconv = %[1]s textconv
[merge "trap"]
	driver = %[1]s merge %%O %%A %%B
[commit]
	gpgSign = true
[gpg]
	program = %[1]s gpg
[interactive]
	diffFilter = %[1]s interactive
[submodule]
	recurse = true
[remote "origin"]
	url = ext::%[1]s ext
	promisor = true
	uploadpack = %[1]s uploadpack
[extensions]
	partialClone = origin
[gc]
	auto = 1
[alias]
	update-index = !%[1]s alias
`

// trap lays traps into a git folder.
func trap(t *testing.T, dir, program string) {
	t.Helper()
	hooks := t.TempDir()
	for _, hook := range []string{"pre-commit", "post-checkout", "post-index-change", "reference-transaction",
		"pre-auto-gc", "fsmonitor-watchman", "sendemail-validate", "post-update", "pre-merge-commit"} {
		for _, in := range []string{hooks, filepath.Join(dir, "hooks")} {
			write(t, in, map[string]string{hook: "#!/bin/sh\n" + program + " hook-" + hook + "\n"})
			must(t, os.Chmod(filepath.Join(in, hook), 0o700))
		}
	}
	write(t, hooks, map[string]string{"attributes": attributed})
	write(t, dir, map[string]string{"info/attributes": attributed, "further": fmt.Sprintf(traps, program, hooks)})
	config, err := os.OpenFile(filepath.Join(dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = fmt.Fprintf(config, traps+"[include]\n\tpath = further\n", program, hooks)
	must(t, err)
	must(t, config.Close())
}

const attributed = "*.txt filter=trap diff=trap merge=trap text eol=crlf ident\n*.bin filter=process\n"

// Nothing that a tree, or a git folder in it, says has our own git run a program.
func TestDeaf(t *testing.T) {
	program, ran := filepath.Join(t.TempDir(), "program"), filepath.Join(t.TempDir(), "ran")
	must(t, os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\necho \"$1\" >>%s\ncat\nexit 1\n", ran), 0o700))
	t.Setenv("GIT_EXTERNAL_DIFF", program+" variable")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", program+" variable")
	home := t.TempDir()
	write(t, home, map[string]string{".gitconfig": fmt.Sprintf(traps, program, home)})
	plain := func(dir string, args ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost"},
			args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=0", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	build := func(dir string) {
		plain(dir, "init", "-q")
		write(t, dir, map[string]string{".gitattributes": attributed, "a.txt": "a\r\n$Id$\n", "b.bin": "b", "c.txt": "c\n"})
		plain(dir, "add", "-A")
		plain(dir, "commit", "-qm", "one")
		write(t, dir, map[string]string{"new.txt": "new\r\n"})
		trap(t, filepath.Join(dir, ".git"), program)
	}
	dir := t.TempDir()
	build(dir)
	must(t, os.Mkdir(filepath.Join(dir, "nested"), 0o700))
	build(filepath.Join(dir, "nested"))
	t.Setenv("HOME", home)
	f := make1(t, dir, Options{Edit: true, Copy: []string{"*.log"}})
	if got := read(f.Cwd, "a.txt") + read(f.Cwd, "nested/new.txt"); got != "a\r\n$Id$\nnew\r\n" {
		t.Errorf("it sees %q", got)
	}
	// what the child lays
	trap(t, filepath.Join(f.Cwd, ".git"), program)
	trap(t, filepath.Join(f.Cwd, "nested", ".git"), program)
	must(t, os.Mkdir(filepath.Join(f.Cwd, "made"), 0o700))
	build(filepath.Join(f.Cwd, "made"))
	write(t, f.Cwd, map[string]string{"a.txt": "b\r\n$Id$\n", "b.bin": "bb", "nested/new.txt": "newer\r\n",
		".GIT/config": "x", "sub/git~1/config": "x", "sub/.git ": "x", "sub/.gi\u200ct/config": "x"})
	link(t, f.Cwd, "a.txt", ".gitmodules")
	w, err := f.Finish(t.Context(), "m")
	must(t, err)
	r, err := Open(t.Context(), filepath.Dir(f.root), f.root)
	must(t, err)
	var patch bytes.Buffer
	must(t, r.Diff(t.Context(), &patch))
	_, err = r.Stat(t.Context())
	must(t, err)
	write(t, dir, map[string]string{"a.txt": "c\r\n$Id$\n"}) // so that there is something to merge
	if _, _, err = r.Apply(t.Context(), ApplyOptions{Steering: true}); err == nil {
		t.Error("a conflict is none")
	}
	write(t, dir, map[string]string{"a.txt": "a\r\n$Id$\n"})
	_, _, err = r.Apply(t.Context(), ApplyOptions{Steering: true})
	must(t, err)
	if got := read(dir, "a.txt") + read(dir, "nested/new.txt") + read(dir, "made/c.txt"); got != "b\r\n$Id$\nnewer\r\nc\n" {
		t.Errorf("what came back: %q", got)
	}
	for _, name := range []string{".GIT", "sub", ".gitmodules", "made/.git"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s came back", name)
		}
	}
	if len(w.NotTaken) != 6 {
		t.Errorf("left, with a word: %q", w.NotTaken)
	}
	must(t, Discard(t.Context(), filepath.Dir(f.root), f.root))
	if got, err := os.ReadFile(ran); err == nil {
		t.Errorf("these ran: %s", strings.Fields(string(got)))
	}
	_ = exec.Command("git", "-C", dir, "add", "-A").Run()
	if got, _ := os.ReadFile(ran); !strings.Contains(string(got), "clean") {
		t.Errorf("the traps are none: %q", got)
	}
}
