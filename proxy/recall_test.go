package proxy

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Later prompts get what they bring to mind: not short ones, not commands, and no memory twice, unless the prompt that
// had it was refused. What is searched for is the task alone, in a delegation.
func TestPerPrompt(t *testing.T) {
	mem := newSource()
	q := armed(t, mem, func(o *Options) {
		o.PerPrompt = true
		o.Task = func(prompt string) string { return strings.TrimSuffix(prompt, " WORDING") }
	})
	for _, step := range []struct {
		prompt, id, text string
		outcome          outcome
		want             string // in the block; "" for no block
	}{
		{"hello", "", "", succeed, "You are Alto"},
		{"what does Robin drink in the morning", "m7", "Robin likes tea.", succeed, "Robin likes tea."},
		{"what does Robin drink in the evening", "m7", "Robin likes tea.", succeed, ""},
		{"and what does Robin wear, if anything", "m1", "Robin prefers tabs.", succeed, ""}, // came with the context
		{"nineteen characters", "m8", "Robin wears green.", succeed, ""},
		{"/review what does Robin wear, if anything", "m8", "Robin wears green.", succeed, ""},
		{"and what does Robin wear, if anything", "m8", "Robin wears green.", refuse, "Robin wears green."},
		{"and what does Robin wear, if anything", "m8", "Robin wears green.", succeed, "Robin wears green."},
		{"and what does Robin wear, if anything", "m8", "Robin wears green.", succeed, ""},
		{"and what is the name of the dog, again", "", "The dog is called Wren.", fail, "The dog is called Wren."},
		{"and what is the name of the dog, again", "", "The dog is called Wren.", succeed, ""},
		{"twenty characters 日本 WORDING", "m9", "A cat, too.", succeed, "A cat, too."},
	} {
		mem.mu.Lock()
		mem.recalled = memory.Context{Source: "test", Items: []memory.Item{{ID: step.id, Text: step.text}}}
		mem.mu.Unlock()
		line := promptTo("s2", "["+textBlock(step.prompt)+"]")
		got := q.sends(t, line)
		q.says(t, `{"jsonrpc":"2.0","id":2,`+string(step.outcome)+`}`)
		if step.want == "" && got != line || !strings.Contains(got, step.want) {
			t.Errorf("%q: %s", step.prompt, got)
		}
	}
	mem.mu.Lock()
	defer mem.mu.Unlock()
	for _, asked := range mem.recalls {
		if asked == "nineteen characters" || strings.HasPrefix(asked, "/") || strings.Contains(asked, "WORDING") {
			t.Errorf("%q was looked up", asked)
		}
	}
}

// What other agents have sent goes with the next plain prompt, once, whether later prompts are given anything else or
// not; nobody waits for it. What came for a compaction goes with the block that follows it.
func TestMessages(t *testing.T) {
	for _, perPrompt := range []bool{false, true} {
		var sent atomic.Value // []memory.Item
		sent.Store([]memory.Item(nil))
		q := armed(t, newSource(), func(o *Options) {
			o.PerPrompt = perPrompt
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
}
