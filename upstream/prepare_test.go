//go:build unix

package upstream

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A tool is a program on PATH: a script that notes that it was run and then does as told.
func tool(t *testing.T, dir, name, does string) {
	t.Helper()
	script := "#!/bin/sh\necho \"$0 $*\" >> " + dir + "/asked\n" + does + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// packaged puts the program in an npm package of that version, and a link on PATH.
func packaged(t *testing.T, dir, name, pkg, version string) {
	t.Helper()
	root := filepath.Join(dir, "lib", "node_modules", pkg)
	if err := os.MkdirAll(filepath.Join(root, "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "package.json"), []byte(`{"name":"`+pkg+`","version":"`+version+`"}`),
		0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "dist", "package.json"), []byte(`{"type":"module"}`),
		0o644); err != nil {
		t.Fatal(err)
	}
	tool(t, dir, "program", "exit 1")
	if err := os.Rename(filepath.Join(dir, "program"), filepath.Join(root, "dist", "index.js")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "dist", "index.js"), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestPrepare(t *testing.T) {
	for _, test := range []struct {
		name, agent string
		setup       func(t *testing.T, dir string)
		command     string // the user's own
		want        string
		asked       bool
		fails       string
	}{
		{name: "npx", agent: "claude", want: "npx -y --package=@agentclientprotocol/claude-agent-acp@latest",
			setup: func(t *testing.T, dir string) { tool(t, dir, "npx", "") }},
		{name: "installed", agent: "claude", want: "claude-agent-acp",
			setup: func(t *testing.T, dir string) { tool(t, dir, "claude-agent-acp", "") }},
		{name: "the user's own", agent: "opencode", command: "my-opencode acp --pure", want: "my-opencode acp --pure",
			setup: func(t *testing.T, dir string) { tool(t, dir, "my-opencode", "") }},
		{name: "missing", agent: "claude", fails: "install Node.js"},
		{name: "gemini missing", agent: "gemini", fails: "npm install -g @google/gemini-cli"},
		{name: "gemini by its package", agent: "gemini", want: "gemini --acp",
			setup: func(t *testing.T, dir string) { packaged(t, dir, "gemini", "@google/gemini-cli", "0.61.0") }},
		{name: "old gemini by its package", agent: "gemini", want: "gemini --experimental-acp",
			setup: func(t *testing.T, dir string) {
				packaged(t, dir, "gemini", "@google/gemini-cli", "0.32.9-nightly.20260101")
			}},
		{name: "another package's gemini", agent: "gemini", want: "gemini --acp", asked: true,
			setup: func(t *testing.T, dir string) { packaged(t, dir, "gemini", "somebody-elses", "0.1.0") }},
		{name: "gemini by asking", agent: "gemini", want: "gemini --acp", asked: true,
			setup: func(t *testing.T, dir string) { tool(t, dir, "gemini", "echo 0.33.0") }},
		{name: "old gemini by asking", agent: "gemini", want: "gemini --experimental-acp -m x",
			command: "gemini --acp -m x", asked: true,
			setup: func(t *testing.T, dir string) { tool(t, dir, "gemini", "echo warning; echo v0.9.12") }},
		{name: "gemini with the old flag", agent: "gemini", command: "gemini --experimental-acp",
			want:  "gemini --experimental-acp",
			setup: func(t *testing.T, dir string) { tool(t, dir, "gemini", "echo 0.60.0") }},
		{name: "gemini that says nothing", agent: "gemini", want: "gemini --acp", asked: true,
			setup: func(t *testing.T, dir string) { tool(t, dir, "gemini", "exit 1") }},
		{name: "copilot by its package", agent: "copilot", want: "copilot --acp --stdio",
			setup: func(t *testing.T, dir string) { packaged(t, dir, "copilot", "@github/copilot", "1.0.102") }},
		{name: "copilot by asking", agent: "copilot", want: "copilot --acp --stdio", asked: true,
			setup: func(t *testing.T, dir string) { tool(t, dir, "copilot", "echo '  --acp  Start as ACP server'") }},
		{name: "copilot without ACP", agent: "copilot", fails: "too old for --acp: npm install -g @github/copilot@latest",
			asked: true,
			setup: func(t *testing.T, dir string) { tool(t, dir, "copilot", "echo 'usage: copilot'") }},
		{name: "qoder", agent: "qoder", want: "qodercli --acp",
			setup: func(t *testing.T, dir string) { tool(t, dir, "qodercli", "") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			if test.setup != nil {
				test.setup(t, dir)
			}
			p, _ := Lookup(test.agent)
			o := Options{Command: strings.Fields(test.command)}
			err := p.Prepare(t.Context(), &o)
			if err == nil && test.fails != "" {
				_, err = Start(o)
			}
			if test.fails != "" {
				if !errors.Is(err, ErrNotStarted) || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("got %v", err)
				}
			} else if err != nil || strings.Join(o.Command, " ") != test.want {
				t.Errorf("got %q, %v", o.Command, err)
			} else if test.command == "" && p.ByNpx() != strings.HasPrefix(test.want, "npx ") {
				t.Errorf("by npx: %t", p.ByNpx())
			}
			if _, err := os.Stat(filepath.Join(dir, "asked")); (err == nil) != test.asked {
				t.Errorf("the program was asked: %t", err == nil)
			}
		})
	}
}

func TestPrepareGraces(t *testing.T) {
	p, _ := Lookup("qoder")
	dir := t.TempDir()
	tool(t, dir, "qodercli", "")
	t.Setenv("PATH", dir)
	var o Options
	if err := p.Prepare(t.Context(), &o); err != nil || o.MinGrace != 750*time.Millisecond ||
		o.Grace != time.Second {
		t.Errorf("%+v, %v", o, err)
	}
	o = Options{Command: []string{"qodercli"}, MinGrace: time.Second, Grace: time.Minute}
	if err := p.Prepare(t.Context(), &o); err != nil || o.MinGrace != time.Second || o.Grace != time.Minute {
		t.Errorf("%+v, %v", o, err)
	}
}

// A harness that hangs when asked for its version starts all the same.
func TestPrepareDoesNotWaitForEver(t *testing.T) {
	dir := t.TempDir()
	tool(t, dir, "gemini", "sleep 3600 & sleep 3600")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	p, _ := Lookup("gemini")
	var o Options
	err := within(t, "Prepare", func() error { return p.Prepare(t.Context(), &o) })
	if err != nil || strings.Join(o.Command, " ") != "gemini --acp" {
		t.Errorf("got %q, %v", o.Command, err)
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]version{
		"0.33.0": {0, 33, 0}, "gemini v1.2.3-rc.1\n": {1, 2, 3}, "warning: x\n0.9.12": {0, 9, 12},
	} {
		if got, ok := parseVersion(text); got != want || !ok {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "1.2", "none"} {
		if got, ok := parseVersion(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}
