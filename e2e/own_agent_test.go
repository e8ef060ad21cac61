package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a person says of the ways of an agent of their own is heeded.
func TestOwnAgent(t *testing.T) {
	t.Parallel()
	const failing = "ECHOAGENT_FAIL=1:-32603"
	hello, squeezed := []string{"Hello.", "Hello again."}, []string{"Hello.", "/squeeze", "Hello again."}
	for _, tt := range []struct {
		name, ways string
		prompts    []string
		set        []string
		contexts   int  // blocks that it was given
		hint       bool // they name the tools
	}{
		{"nothing is said", "inject: on", hello, nil, 1, true},
		{"it asks for tools", "asks_for_tools: on", hello, nil, 1, false},
		{"it keeps what failed", "keeps_failed: on", hello, []string{failing, "ECHOAGENT_KEEP=1"}, 1, true},
		{"it may forget what failed", "keeps_failed: off", hello, []string{failing, "ECHOAGENT_KEEP=1"}, 2, true},
		{"a command sums up", "compact_commands: [squeeze]", squeezed, nil, 2, true},
		{"a command does anything", "compact_commands: []", squeezed, nil, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set(append(tt.set, "SIGNET_ACP_MEMORY=embedded")...)
			must(b, os.WriteFile(filepath.Join(b.Signet, "agent.yaml"),
				[]byte("acp:\n  agents:\n    echo: {command: echoagent, "+tt.ways+"}\n"), 0o600))
			c := b.connect(nil, echoBin)
			session := c.open()
			for i, words := range tt.prompts {
				if err := c.prompt(session, words); err != nil && (i > 0 || tt.set == nil) {
					t.Fatal(err)
				}
			}
			c.end()
			got := b.received(session)
			if n := got.contexts(); n != tt.contexts {
				t.Errorf("%d contexts, want %d: %+v", n, tt.contexts, got)
			}
			if hint := strings.Contains(got.Turns[0].Blocks[0].Text, "memory_search"); hint != tt.hint {
				t.Errorf("the tools are named: %t, want %t", hint, tt.hint)
			}
		})
	}
}
