package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Clients on the TypeScript SDK see through the proxy what they see without it, and the harness is given our block
// besides.
func TestSDKClient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		scenario string
		flags    []string
		env      []string
		contexts []string // of the sessions in which anything was said
	}{
		{"open-design", nil, []string{"ECHOAGENT_SLOW=1m"}, []string{"1 of 1"}},
		{"t3code", []string{"-resume"}, []string{"ECHOAGENT_ASK=1"}, []string{"1 of 2"}},
		{"zed", []string{"-list"}, []string{"ECHOAGENT_COMMANDS=web,plan"}, []string{"1 of 1", "1 of 3"}},
	} {
		t.Run(tt.scenario, func(t *testing.T) {
			t.Parallel()
			var logs [2]string
			for i, way := range []string{"bare", "proxied"} {
				b := newBox(t)
				b.set(append(tt.env, "ECHOAGENT_TERSE=1", "SIGNET_E2E_MODULES="+string(modules))...)
				script, err := filepath.Abs(filepath.Join("testdata", "client.mjs"))
				must(b, err)
				node, err := modules.Node()
				must(b, err)
				command := []string{node, script, tt.scenario, b.Work}
				if way == "proxied" {
					command = append(command, proxyBin, "--memory", "embedded", "--agent", "echo", "--")
				}
				logs[i] = normal(b, b.run(append(append(command, echoBin), tt.flags...)...))
				if way == "bare" {
					continue
				}
				var contexts []string
				for _, opened := range b.requests("session/new") {
					if s := b.received(opened.Session); len(s.Turns) > 0 {
						contexts = append(contexts, fmt.Sprintf("%d of %d", s.contexts(), len(s.Turns)))
					}
				}
				slices.Sort(contexts)
				if diff := cmp.Diff(tt.contexts, contexts); diff != "" {
					t.Errorf("contexts in turns (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(logs[0], logs[1]); diff != "" {
				t.Errorf("what the client sees (-bare +proxied):\n%s", diff)
			}
		})
	}
}

// What may differ between two runs: ids, folders, and how many blocks the agent says that it was given. Advertised
// commands come whenever they come, and the list is in no order.
var (
	echoID    = regexp.MustCompile(`echo-[0-9a-f]{16}`)
	given     = regexp.MustCompile(`I was given \d+ block|\[\d+\]`)
	unordered = regexp.MustCompile(`(?m)^\["(update",.*available_commands_update|list").*\n`)
)

func normal(b *box, log string) string {
	log = unordered.ReplaceAllString(strings.ReplaceAll(log, b.Dir, "DIR"), "")
	known := map[string]string{}
	log = echoID.ReplaceAllStringFunc(log, func(id string) string {
		if known[id] == "" {
			known[id] = fmt.Sprintf("session-%d", len(known)+1)
		}
		return known[id]
	})
	return given.ReplaceAllString(log, "N")
}
