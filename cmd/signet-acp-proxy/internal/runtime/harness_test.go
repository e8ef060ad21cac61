package runtime

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// How long a harness may take to end is what its section says, also where it is known by its command alone.
func TestHarnessGrace(t *testing.T) {
	adapter := filepath.Join(t.TempDir(), "claude-agent-acp.exe")
	if err := os.WriteFile(adapter, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	c := &config.Config{Agents: map[string]config.AgentConfig{
		"claude": {Grace: 3 * time.Second},
		"mine":   {Grace: 4 * time.Second, Command: []string{adapter}},
	}}
	for _, tt := range []struct {
		name    string
		command []string
		want    time.Duration
	}{
		{"", []string{adapter}, 3 * time.Second},
		{"claude", []string{adapter}, 3 * time.Second},
		{"nobody", []string{adapter}, 3 * time.Second},
		{"mine", nil, 4 * time.Second},
		{"mine", []string{adapter}, 4 * time.Second},
		{"gemini", []string{adapter}, time.Second},
	} {
		var o upstream.Options
		if _, _, err := Harness(c, tt.name, tt.command, &o); err != nil || o.Grace != tt.want {
			t.Errorf("%q %q: %v to end, want %v (%v)", tt.name, tt.command, o.Grace, tt.want, err)
		}
	}
}

// Arguments reach the adapter, also where npx fetches it; auto is the agent that the configuration names.
func TestHarnessCommand(t *testing.T) {
	bin := t.TempDir()
	for _, program := range []string{"npx", "gemini"} {
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	for _, tt := range []struct {
		name, defaultAgent string
		command            []string
		want, call         string // the command line, and how what npx runs ends
		err                error
	}{
		{name: "gemini", command: []string{"--", "-m", "x"}, want: "gemini --acp -m x"},
		{name: "codex", command: []string{"--", "-c", "model=x"},
			want: "npx -y --package=@agentclientprotocol/codex-acp@latest", call: "exec codex-acp -c model=x"},
		{name: "auto", defaultAgent: "gemini", want: "gemini --acp"},
		{name: "auto", err: ErrNoDefault},
		{name: "auto", defaultAgent: "nobody", err: errUnknownAgent},
		{name: "auto", command: []string{"gemini"}, want: "gemini"},
	} {
		var o upstream.Options
		_, called, err := Harness(&config.Config{DefaultAgent: tt.defaultAgent}, tt.name, tt.command, &o)
		if !errors.Is(err, tt.err) || err == nil && strings.Join(o.Command, " ") != tt.want {
			t.Errorf("%s %q: %q, %v", tt.name, tt.command, o.Command, err)
		}
		if err == nil && (called == "" || called == "auto" || tt.name != "" && tt.name != "auto" && called != tt.name) {
			t.Errorf("%s %q is called %q", tt.name, tt.command, called)
		}
		if tt.call != "" && !slices.ContainsFunc(o.Env, func(entry string) bool {
			return strings.HasPrefix(entry, "npm_config_call=") && strings.HasSuffix(entry, tt.call)
		}) {
			t.Errorf("%s %q: the adapter is not called by %s", tt.name, tt.command, tt.call)
		}
	}
}

// A harness is known by the name that a person types, by its own, and by no other's.
func TestIsHarness(t *testing.T) {
	for _, tt := range []struct {
		harness, name string
		want          bool
	}{
		{"@agentclientprotocol/claude-agent-acp", "claude", true},
		{"claude", "Claude", true},
		{"Mine", "mine", true},
		{"codex", "claude", false},
		{"mine", "yours", false},
	} {
		if got := isHarness(tt.harness, tt.name); got != tt.want {
			t.Errorf("%q is %q: %t", tt.harness, tt.name, got)
		}
	}
}
