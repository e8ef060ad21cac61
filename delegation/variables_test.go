package delegation

import (
	"slices"
	"strings"
	"testing"
)

// A child has its own id, depth and caller, and the setting as its caller has it.
func TestEnvironment(t *testing.T) {
	for _, name := range []string{idVariable, depthVariable, CallerVariable, "SIGNET_ACP_PARENT", "CLAUDECODE"} {
		t.Setenv(name, "outer")
	}
	t.Setenv("SIGNET_ACP_DELEGATION", "on")
	env := childEnvironment(Delegation{ID: "01D", Depth: 2, Caller: Caller{Key: "acp-1"}}, nil)
	for _, v := range []string{"SIGNET_ACP_DELEGATION=on", "SIGNET_ACP_DELEGATION_ID=01D",
		"SIGNET_ACP_DELEGATION_DEPTH=2", "SIGNET_ACP_CALLER=acp-1"} {
		if !slices.Contains(env, v) {
			t.Errorf("%s is missing", v)
		}
	}
	if i := slices.IndexFunc(env, func(v string) bool { return strings.HasSuffix(v, "=outer") }); i >= 0 {
		t.Errorf("the caller's %s is left", env[i])
	}
}

func TestAtDepthLimit(t *testing.T) {
	for _, tt := range []struct {
		id, depth string
		want      bool
	}{{"", "2", false}, {"01D", "1", false}, {"01D", "2", true}, {"01D", "3", true}, {"01D", "", false}} {
		env := map[string]string{idVariable: tt.id, depthVariable: tt.depth}
		if got := AtDepthLimit(func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("%q at %q: %v", tt.id, tt.depth, got)
		}
	}
}
