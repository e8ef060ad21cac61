package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/clients"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

var update = flag.Bool("update", false, "write the tables in docs anew")

// The settings table of docs is the one of the program.
func TestSettingsTable(t *testing.T) { made(t, "docs/configuration", "settings", settingsTable()) }

// So are the sections on clients.
func TestClientsPage(t *testing.T) { made(t, "docs/clients", "clients", clientSections(t)) }

// made checks what a page has between two marks, or writes it.
func made(t *testing.T, name, mark, text string) {
	t.Helper()
	file := "../../" + name + ".md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile(`(?s)(<!-- ` + mark + `: [^\n]* -->\n).*?(<!-- end -->)`)
	want := marks.ReplaceAllStringFunc(string(page), func(old string) string {
		parts := marks.FindStringSubmatch(old)
		return parts[1] + text + parts[2]
	})
	switch {
	case want == string(page) && marks.Match(page):
	case !*update:
		t.Fatalf("the %s in %s are out of date: go test -run %s -update", mark, file, t.Name())
	default:
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// clientSections has a section for each client that has none of its own.
func clientSections(t *testing.T) string {
	t.Setenv("PATH", "") // so that we are named by our path
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range clients.All {
		if c.Name == "acpx" || c.Name == "zed" {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n", c.Title)
		if c.Path != nil {
			fmt.Fprintf(&b, "`%s`: setup writes %s; %s.\n", c.Name, c.Where, c.Reload)
		} else {
			text, err := clients.Snippet(&config.Config{}, c.Name, []string{"gemini"})
			if err != nil {
				t.Fatal(err)
			}
			text = strings.ReplaceAll(text, self, "/path/to/signet-acp-proxy")
			fmt.Fprintf(&b, "`--for %s`, into %s:\n\n```text\n%s```\n", c.Name, c.Where, text)
		}
		if c.Notes != "" {
			fmt.Fprintf(&b, "\n%s\n", c.Notes)
		}
	}
	return b.String() + "\n"
}

func settingsTable() string {
	var b strings.Builder
	b.WriteString("| setting | environment | default | |\n|---|---|---|---|\n")
	row := func(name, environment string, s config.Setting) {
		def := ""
		if s.Default != "" {
			def = "`" + s.Default + "`"
		}
		if s.Enum != nil {
			def += " of " + strings.Join(s.Enum, ", ")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, environment, def, s.Help)
	}
	for _, s := range config.SettingsOf(&config.Config{}) {
		row(s.Name, "`"+s.Env+"`", s)
	}
	for _, s := range config.SettingsOf(&config.AgentConfig{}) {
		row("agents.NAME."+s.Name, "", s)
	}
	return b.String()
}

// Every command that the pages name is one.
func TestDocsNameWhatThereIs(t *testing.T) {
	lines := regexp.MustCompile("(?m)`signet-acp-proxy ([a-z][^`]*)`|(?:<\\(|^\\$ |^)signet-acp-proxy " +
		"([a-z][^#|>)\n]*)")
	for _, name := range []string{"configuration", "troubleshooting", "security", "architecture", "clients",
		"scripting"} {
		page, err := os.ReadFile("../../docs/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range lines.FindAllStringSubmatch(string(page), -1) {
			line := found[1] + found[2]
			root := grammar(term.Streams{}, new(bool))
			root.InitDefaultCompletionCmd()
			cmd, args, err := root.Find(strings.Fields(line))
			// those take a shell, or a person, to read
			if err == nil && len(args) > 0 && !strings.ContainsAny(line, "[\"") {
				err = errors.Join(cmd.ParseFlags(args), cmd.ValidateArgs(cmd.Flags().Args()))
			}
			if err != nil || !cmd.HasParent() || cmd.HasSubCommands() {
				t.Errorf("%s.md names %q: %v", name, line, err)
			}
		}
	}
}

// messages are the texts of this command's code: what has a blank and is no name of an error's context or a test's.
func messages(t *testing.T) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				all[files.Position(n.Pos()).String()] = literal.Value
			}
			return true
		})
		return nil
	})
	if err != nil || len(all) < 1000 {
		t.Fatalf("%d texts, %v", len(all), err)
	}
	return all
}

// Neither a page, a help text nor a message has one of the words that CONTRIBUTING.md rules out.
func TestPlainWords(t *testing.T) {
	guide, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(guide), "\nNot: ")
	list, after, ok := strings.Cut(rest, "A test looks for\nthese")
	var words []string
	for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		words = append(words, regexp.QuoteMeta(found[1]))
	}
	if !ok || len(words) < 10 {
		t.Fatalf("CONTRIBUTING.md rules out %q: this looks at the wrong place", words)
	}
	banned := regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
	look := func(where, text string) {
		for _, found := range banned.FindAllString(strings.Join(strings.Fields(text), " "), -1) {
			t.Errorf("%s has %q", where, found)
		}
	}
	look("CONTRIBUTING.md", before+after)
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md", "../../SECURITY.md", "../../docs/agent.example.yaml") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		look(page, string(text))
	}
	for where, text := range messages(t) {
		look(where, text)
	}
	for _, s := range append(config.SettingsOf(&config.Config{}), config.SettingsOf(&config.AgentConfig{})...) {
		look(s.Name, s.Help)
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		look(cmd.CommandPath(), cmd.Short+"\n"+cmd.Long+"\n"+cmd.LocalFlags().FlagUsages())
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(grammar(term.Streams{}, new(bool)))
}
