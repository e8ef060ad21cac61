package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

var update = flag.Bool("update", false, "write the tables in docs anew")

const settingsPage = "../../docs/configuration.md"

// The settings table of docs is the one of the program.
func TestSettingsTable(t *testing.T) {
	page, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	marks := regexp.MustCompile(`(?s)(<!-- settings: [^\n]* -->\n).*(<!-- end -->)`)
	want := marks.ReplaceAllStringFunc(string(page), func(old string) string {
		parts := marks.FindStringSubmatch(old)
		return parts[1] + settingsTable() + parts[2]
	})
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatalf("the table of settings in %s is out of date: go test -run TestSettingsTable -update", settingsPage)
	}
	if err := os.WriteFile(settingsPage, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
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
	for _, s := range config.Settings() {
		row(s.Name, "`"+s.Env+"`", s)
	}
	for _, s := range config.AgentSettings() {
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
			cmd, args, err := grammar(term.Streams{}).Find(strings.Fields(line))
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
