//go:build unix

package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func identity(t *testing.T, dir string, session memory.Session) string {
	t.Helper()
	text := New(nil, Options{SignetPath: dir}).Identity(session).Identity
	if again := New(nil, Options{SignetPath: dir}).Identity(session).Identity; again != text {
		t.Errorf("the same files gave %q and %q", text, again)
	}
	return text
}

func TestIdentityOrder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"MEMORY", "SOUL", "AGENTS", "USER", "IDENTITY"} {
		write(t, filepath.Join(dir, name+".md"), "I am "+name)
	}
	got := identity(t, dir, memory.Session{})
	last := -1
	for _, name := range []string{"IDENTITY", "USER", "SOUL", "AGENTS", "MEMORY"} {
		at := strings.Index(got, "I am "+name)
		if at <= last {
			t.Errorf("%s is not in its place:\n%s", name, got)
		}
		last = at
	}
}

func TestIdentityBudget(t *testing.T) {
	dir := t.TempDir()
	line := strings.Repeat("word ", 15) + "end\n"
	write(t, filepath.Join(dir, "AGENTS.md"), strings.Repeat(line, 1000))
	alone := memory.Tokens(identity(t, dir, memory.Session{}))
	if alone > 3700 || alone < 3600 {
		t.Errorf("AGENTS.md alone takes %d tokens: its own 1,000 and 2,700 that nobody needed", alone)
	}
	write(t, filepath.Join(dir, "IDENTITY.md"), strings.Repeat(line, 1000))
	write(t, filepath.Join(dir, "MEMORY.md"), strings.Repeat(line, 1000))
	if all := memory.Tokens(identity(t, dir, memory.Session{})); all > 4000 {
		t.Errorf("all take %d tokens", all)
	}
}

func TestIdentityOddFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "elsewhere.txt"), "linked")
	if err := os.Symlink("elsewhere.txt", filepath.Join(dir, "IDENTITY.md")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink("SOUL.md", filepath.Join(dir, "SOUL.md")); err != nil { // of itself
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "USER.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "AGENTS.md"), "\ufeffLatin \xe9t\xe9\r\nnext\x00 line")
	big, err := os.Create(filepath.Join(dir, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := big.WriteString("first line\n"); err != nil {
		t.Fatal(err)
	}
	if err := big.Truncate(100 << 20); err != nil {
		t.Fatal(err)
	}
	big.Close()
	got := identity(t, dir, memory.Session{})
	for _, want := range []string{"linked", "Latin \ufffdt\ufffd\nnext line", "first line"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %.200q", want, got)
		}
	}
	if n := memory.Tokens(got); n > 4000 {
		t.Errorf("%d tokens", n)
	}
	os.Remove(filepath.Join(dir, "IDENTITY.md"))
	write(t, filepath.Join(dir, "IDENTITY.md"), "\xff\xfeh\x00i\x00")
	if got := identity(t, dir, memory.Session{}); !strings.Contains(got, "hi\n") {
		t.Errorf("UTF-16: %.100q", got)
	}
}

func TestIdentityNotTwice(t *testing.T) {
	home, project, dir := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("CODEX_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	const agents = "Run the tests before you say that something works, and keep commits small enough to be read in " +
		"one go."
	const soul = "You are calm. You say what you know, what you do not know, and which of the two it is, in as few " +
		"words as you can."
	write(t, filepath.Join(dir, "AGENTS.md"), agents+"\n")
	write(t, filepath.Join(dir, "SOUL.md"), soul)
	cwd := filepath.Join(project, "a", "b")
	write(t, filepath.Join(cwd, "main.go"), "package main")

	has := func(harness string) (agentsThere, soulThere bool) {
		got := identity(t, dir, memory.Session{Harness: harness, Cwd: cwd})
		return strings.Contains(got, agents), strings.Contains(got, soul)
	}
	if a, s := has("claude"); !a || !s {
		t.Errorf("nobody else gives them: AGENTS %v, SOUL %v", a, s)
	}
	write(t, filepath.Join(home, ".claude", "CLAUDE.md"), "# Signet\r\n\r\n"+agents+"\r\n\r\n"+soul+"\r\n")
	if a, s := has("@agentclientprotocol/claude-agent-acp"); a || s {
		t.Errorf("claude reads ~/.claude/CLAUDE.md: AGENTS %v, SOUL %v", a, s)
	}
	if a, s := has("codex"); !a || !s {
		t.Errorf("codex does not: AGENTS %v, SOUL %v", a, s)
	}
	write(t, filepath.Join(project, "AGENTS.md"), agents)
	if a, s := has("codex"); a || !s {
		t.Errorf("AGENTS.md lies above the working directory: AGENTS %v, SOUL %v", a, s)
	}
	write(t, filepath.Join(home, ".codex", "AGENTS.md"), soul)
	if a, s := has("codex-acp"); a || s {
		t.Errorf("codex reads ~/.codex/AGENTS.md: AGENTS %v, SOUL %v", a, s)
	}
	moved := t.TempDir()
	write(t, filepath.Join(moved, "opencode", "AGENTS.md"), soul)
	if _, s := has("opencode"); s {
		t.Error("opencode reads ~/.claude/CLAUDE.md")
	}
	if err := os.Remove(filepath.Join(home, ".claude", "CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	if _, s := has("opencode"); !s {
		t.Error("nobody gives SOUL to opencode any more")
	}
	t.Setenv("XDG_CONFIG_HOME", moved)
	if _, s := has("opencode"); s {
		t.Error("opencode reads opencode/AGENTS.md in XDG_CONFIG_HOME")
	}
}

// The comment that a template of init begins with is told to no agent.
func TestIdentityTemplates(t *testing.T) {
	for text, want := range map[string]string{
		"<!-- who? -->": "", "<!--\nwho?\n-->\n\n": "", "<!-- who? -->\n\nYou are Alto.": "You are Alto.",
		"<!-- a -->b<!-- c -->": "b<!-- c -->", "<!-- not closed": "<!-- not closed",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "IDENTITY.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := New(nil, Options{SignetPath: dir}).Identity(memory.Session{}).Identity
		if want != "" {
			want = "# IDENTITY.md\n" + want + "\n"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Where the person has named the files, these are read and no others, and none outside of their folder.
func TestIdentityNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"SOUL.md": "Calm.", "notes.md": "Some notes.", "USER.md": "Robin.",
		"../outside.md": "Outside."} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Remove(filepath.Join(dir, "../outside.md"))
	for _, tc := range []struct {
		files []string
		want  string
	}{
		{nil, "# USER.md\nRobin.\n# SOUL.md\nCalm.\n"},
		{[]string{}, ""},
		{[]string{"notes.md", "SOUL.md", "../outside.md", "/etc/hostname", "missing.md"}, "# notes.md\nSome notes.\n# SOUL.md\nCalm.\n"},
	} {
		s := New(nil, Options{SignetPath: dir, Files: tc.files})
		if got := s.Identity(memory.Session{}).Identity; got != tc.want {
			t.Errorf("%v: %q, want %q", tc.files, got, tc.want)
		}
	}
}
