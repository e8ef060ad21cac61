package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a person says of the ways of an agent of their own is heeded: it may forget what failed, a command of its own
// sums up, and it need not be told of tools.
func TestOwnAgent(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.set("ECHOAGENT_FAIL=1:-32603", "ECHOAGENT_KEEP=1", "SIGNET_ACP_MEMORY=embedded")
	must(b, os.WriteFile(filepath.Join(b.Signet, "agent.yaml"), []byte("acp:\n  agents:\n    echo: {command: echoagent, "+
		"asks_for_tools: on, keeps_failed: off, compact_commands: [squeeze]}\n"), 0o600))
	c := b.connect(nil, echoBin)
	session := c.open()
	if err := c.prompt(session, "Hello."); err == nil {
		t.Fatal("the first prompt should have failed")
	}
	for _, said := range []string{"Hello again.", "Still there?", "/squeeze", "What was it?"} {
		c.say(session, said)
	}
	c.end()
	got := b.received(session)
	if n := got.contexts(); n != 3 { // with the one that failed, the next one and the one after the summary
		t.Errorf("%d contexts: %+v", n, got)
	}
	if strings.Contains(got.Turns[0].Blocks[0].Text, "memory_search") {
		t.Errorf("the tools are named:\n%s", got.Turns[0].Blocks[0].Text)
	}
}
