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

// Agents that fail in every way that there is: the row says what is true, and nothing stays behind.
func TestDelegateFaults(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{
		"silent":   {"ECHOAGENT_HANG=initialize"},
		"stubborn": {"ECHOAGENT_HANG=session/prompt"},
		"stranger": {"ECHOAGENT_LOGIN=1"},
		"junk":     {"ECHOAGENT_JUNK=1"},
		"flood":    {"ECHOAGENT_FLOOD=20000", "ECHOAGENT_TERSE=1"},
		"mortal":   {"ECHOAGENT_DIE=1"},
		"murderer": {"ECHOAGENT_KILL=1"},
		"failing":  {"ECHOAGENT_FAIL=1:-32603"},
		"busy":     {"ECHOAGENT_STEPS=50", "ECHOAGENT_SLOW=20ms"},
		"asking":   {"ECHOAGENT_ASK=1"},
	})
	killed, by := "failed", "the agent ended"
	if runtime.GOOS == "linux" { // its signals reach nobody
		killed, by = "done", ""
	}
	for _, tt := range []struct {
		agent, state, reason string
		more                 []string
	}{
		{"silent", "stopped", "budget of 2 seconds", []string{"--timeout", "2s"}},
		{"stubborn", "stopped", "budget of 2 seconds", []string{"--timeout", "2s"}},
		{"stranger", "failed", "log stranger in first", nil},
		{"junk", "done", "", nil},
		{"flood", "done", "", nil},
		{"mortal", "failed", "the agent ended", nil},
		{"murderer", killed, by, nil},
		{"failing", "failed", "told to fail", nil},
		{"asking", "done", "", nil},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			r := b.try(ask(tt.agent, append(tt.more, "Do it.")...)...)
			d := b.delegations()[0]
			if d.Agent != tt.agent || d.State != tt.state || !strings.Contains(d.Reason, tt.reason) || (r.Code == 0) !=
				(tt.state == "done") {
				t.Errorf("exit %d, %+v\n%s", r.Code, d, r.Stderr)
			}
			switch tt.agent {
			case "asking":
				if len(d.Refused) != 1 || !strings.HasPrefix(d.Refused[0], "Write a file: ") {
					t.Errorf("refused: %q", d.Refused)
				}
			case "flood":
				if len(d.Answer) > 100<<10 || !strings.Contains(d.Answer, "word 0 ") {
					t.Errorf("an answer of %d bytes", len(d.Answer))
				}
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
	if i := slices.IndexFunc(agents, func(a struct{ ID, Status string }) bool { return a.ID == "flood" }); i < 0 ||
		agents[i].Status != "available" {
		t.Errorf("agents: %+v", agents)
	}
}
