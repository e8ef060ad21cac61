package runtime

import (
	"slices"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Who started us decides whether we do anything.
func TestBypassed(t *testing.T) {
	for _, tt := range []struct {
		name                          string
		noHooks, bypass, parent, want string // the first three are variables; want is what nested is when we do nothing
	}{
		{"a person", "", "", "", ""},
		{"Signet", "1", "", "", "off inject"},
		{"Signet says no", "0", "", "", ""},
		{"an agent of ours", "1", "", "01J", "off"},
		{"an agent of ours whose hooks run", "", "", "01J", "off"},
		{"bypassed", "", "1", "", "off inject"},
		{"an agent of ours, bypassed", "1", "1", "01J", "off inject"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(hooksVariable, tt.noHooks)
			t.Setenv(bypassVariable, tt.bypass)
			t.Setenv(parentVariable, tt.parent)
			got := ""
			for _, nested := range []string{"off", "inject"} {
				if c := (&config.Config{Nested: nested}); Bypassed(c) {
					if got != "" {
						got += " "
					}
					got += nested
				}
			}
			if got != tt.want {
				t.Errorf("nothing is done with nested %q, want %q", got, tt.want)
			}
		})
	}
}

func TestHarnessEnvironment(t *testing.T) {
	env := []string{"A=1", "SIGNET_NO_HOOKS=0", "SIGNET_NO_HOOKS_X=2", "SIGNET_ACP_PARENT=outer"}
	for hooks, want := range map[string][]string{
		"disabled": {"A=1", "SIGNET_NO_HOOKS_X=2", "SIGNET_NO_HOOKS=1", "SIGNET_ACP_PARENT=me"},
		"enabled":  {"A=1", "SIGNET_NO_HOOKS_X=2", "SIGNET_ACP_PARENT=me"},
		"inherit":  {"A=1", "SIGNET_NO_HOOKS=0", "SIGNET_NO_HOOKS_X=2", "SIGNET_ACP_PARENT=me"},
	} {
		if got := WithParent(WithHooks(env, hooks), "me"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", hooks, got, want)
		}
	}
	if env[1] != "SIGNET_NO_HOOKS=0" || env[3] != "SIGNET_ACP_PARENT=outer" {
		t.Error("the environment itself was changed")
	}
}

func TestAsAcpx(t *testing.T) {
	claude, _ := upstream.Lookup("claude")
	for value, want := range map[string][]string{"": {"project", "local"}, " 1 ": {"user", "project", "local"},
		"true": {"project", "local"}} {
		t.Setenv("ACPX_CLAUDE_INCLUDE_USER_SETTINGS", value)
		if got := acpxCompat(claude).SettingSources; !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	codex, _ := upstream.Lookup("codex")
	pi, _ := upstream.Lookup("pi")
	if c := acpxCompat(codex); c.SettingSources != nil {
		t.Errorf("codex has %q", c.SettingSources)
	}
	if !traits(pi, true, "system").InSystem || traits(pi, true, "auto").InSystem ||
		!traits(codex, true, "auto").InSystem || traits(codex, true, "prompt").InSystem ||
		traits(codex, true, "auto").MetaSystem || !traits(claude, true, "auto").MetaSystem {
		t.Error("placement")
	}
}
