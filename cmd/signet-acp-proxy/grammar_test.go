package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
)

func TestForLogin(t *testing.T) {
	for line, want := range map[string]string{
		"":                                      "",
		"login":                                 "login",
		"--agent mine":                          "--agent mine",
		"--agent mine login":                    "--agent mine -- -- login",
		"--agent mine login --help":             "--agent mine -- -- login --help",
		"--agent mine --cli auth login":         "--agent mine -- -- --cli auth login",
		"--agent mine sessions":                 "--agent mine -- -- sessions",
		"--agent=mine --memory off login --db":  "--agent=mine --memory off -- -- login --db",
		"--agent mine -- mine --acp login":      "--agent mine -- mine --acp login",
		"sessions --json":                       "sessions --json",
		"sessions --jsn":                        "sessions --jsn",
		"setup acpx claude --wrong":             "setup acpx claude --wrong",
		"memory":                                "memory",
		"__complete --agent mine sessions":      "__complete --agent mine sessions",
		"--agent mine __complete --agent other": "--agent mine -- -- __complete --agent other",
	} {
		if got := strings.Join(forLogin(strings.Fields(line)), " "); got != want {
			t.Errorf("forLogin(%q) = %q, want %q", line, got, want)
		}
	}
}

// Help fits a screen: the root command's 70 lines, any other's 22.
func TestHelpIsShort(t *testing.T) {
	var out strings.Builder
	root := grammar(term.Streams{Out: &out}, new(bool))
	var look func(cmd *cobra.Command, limit int)
	look = func(cmd *cobra.Command, limit int) {
		out.Reset()
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(out.String(), "\n"); lines > limit {
			t.Errorf("%s -h has %d lines", cmd.CommandPath(), lines)
		}
		for line := range strings.Lines(out.String()) {
			if term.Width(line) > 101 {
				t.Errorf("%s -h: %s", cmd.CommandPath(), line)
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				look(sub, 22)
			}
		}
	}
	look(root, 70)
}

// Every command says what it is for, and takes the flags that all do.
func TestGrammar(t *testing.T) {
	root := grammar(term.Streams{}, new(bool))
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.Short == "" || sub.RunE == nil && !sub.IsAdditionalHelpTopicCommand() {
				t.Errorf("%s: no explanation, or nothing to do", sub.CommandPath())
			}
			for _, name := range strings.Fields("memory daemon-url signet-path db log-level log-file version help") {
				if sub.Flag(name) == nil || sub.LocalNonPersistentFlags().Lookup(name) != nil {
					t.Errorf("%s has no --%s, or one of its own", sub.CommandPath(), name)
				}
			}
			look(sub)
		}
	}
	look(root)
}

func TestHelpFitsNarrowScreens(t *testing.T) {
	for _, width := range []int{80, 100, 132, 200} {
		for line := range strings.Lines(settingsHelp(width)) {
			if n := term.Width(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns on a screen of %d: %s", n, width, line)
			}
		}
	}
	const variable, rule = "SIGNET_ACP_HOLD ", "SIGNET_ACP_ and the name in capitals"
	if narrow := settingsHelp(80); strings.Contains(narrow, variable) || !strings.Contains(narrow, rule) {
		t.Errorf("80 columns have no room for the names of variables:\n%s", narrow)
	}
	if wide := settingsHelp(150); !strings.Contains(wide, variable) ||
		!strings.Contains(wide, "(auto, daemon, embedded, off)") || strings.Contains(wide, "()") {
		t.Errorf("150 columns have:\n%s", wide)
	}
}
