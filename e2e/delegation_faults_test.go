package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Behind the proxy and in its bounds an agent that fails is told of as it is alone (delegation/run_test.go), and nothing
// stays behind.
func TestDelegateFaults(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{
		"junk":     {"ECHOAGENT_JUNK=1"},
		"murderer": {"ECHOAGENT_KILL=1"},
		"asking":   {"ECHOAGENT_ASK=1"},
	})
	killed, by := "failed", "the agent ended"
	if runtime.GOOS == "linux" { // its signals reach nobody
		killed, by = "done", ""
	}
	for _, tt := range []struct{ agent, state, reason string }{
		{"junk", "done", ""},
		{"murderer", killed, by},
		{"asking", "done", ""},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			r := b.try(ask(tt.agent, "Do it.")...)
			d := b.delegations()[0]
			if d.Agent != tt.agent || d.State != tt.state || !strings.Contains(d.Reason, tt.reason) || (r.Code == 0) !=
				(tt.state == "done") {
				t.Errorf("exit %d, %+v\n%s", r.Code, d, r.Stderr)
			}
			if tt.agent == "asking" && (len(d.Refused) != 1 || !strings.HasPrefix(d.Refused[0], "Write a file: ")) {
				t.Errorf("refused: %q", d.Refused)
			}
			b.orphans()
		})
	}
	work, asked := filepath.Join(b.Signet, "acp", "work"), len(b.requests("session/prompt"))
	must(b, os.RemoveAll(work))
	must(b, os.WriteFile(work, nil, 0o600)) // where folders are made
	for _, mode := range []string{"read", "edit"} {
		r := b.try(ask("asking", "--mode", mode, "Do it "+mode+".")...)
		if d := b.delegations()[0]; r.Code != 1 || d.State != "failed" || d.Reason == "" ||
			!strings.Contains(r.Stderr, d.Reason) || len(b.requests("session/prompt")) > asked {
			t.Errorf("where no folder can be made: exit %d, %+v\n%s", r.Code, d, r.Stderr)
		}
	}
	var agents []struct{ ID, Status string }
	must(b, json.Unmarshal([]byte(b.run(proxyBin, "agents", "--json")), &agents))
	if i := slices.IndexFunc(agents, func(a struct{ ID, Status string }) bool { return a.ID == "junk" }); i < 0 ||
		agents[i].Status != "available" {
		t.Errorf("agents: %+v", agents)
	}
}
