package proxy

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// What other agents have sent goes with the next plain prompt, once; nobody
// waits for it. What came for a compaction goes with the block that follows it.
func TestMessages(t *testing.T) {
	var sent atomic.Value // []memory.Item
	sent.Store([]memory.Item(nil))
	q := armed(t, newSource(), func(o *Options) {
		o.Open = func(context.Context) (*Backend, error) {
			return &Backend{Ledger: &shelf{}, Memory: newSource(), Messages: func(string) []memory.Item {
				return slices.Clone(sent.Load().([]memory.Item))
			}}, nil
		}
	})
	q.says(t, update("s2", `{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"compact"}]}`))
	heron := []memory.Item{{ID: "message:1", Text: "look at the heron", Origin: "agent beta"}}
	for _, step := range []struct {
		prompt string
		sent   []memory.Item
		want   string
	}{
		{"hello", nil, "You are Alto."},
		{"/review", heron, ""}, {"on", heron, "look at the heron"}, {"on", heron, ""},
		// the other one was acknowledged
		{"/compact", []memory.Item{{ID: "guidance:1", Text: "keep the bittern"}}, ""},
		{"on", []memory.Item{{ID: "guidance:1", Text: "keep the bittern"}}, "keep the bittern"},
	} {
		sent.Store(step.sent)
		line := promptTo("s2", "["+textBlock(step.prompt)+"]")
		got := q.sends(t, line)
		q.says(t, downEnd)
		if step.want == "" && got != line || strings.Count(got, step.want) != 1 && step.want != "" {
			t.Errorf("%q: %s", step.prompt, got)
		}
	}
}
