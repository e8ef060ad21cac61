package e2e

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Who waits may be ended in any way: what it asked ends too, unless it was to go on.
func TestDelegateCallerEnds(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			b := delegating(t, map[string][]string{"stubborn": {"ECHOAGENT_HANG=session/prompt"}})
			cmd := b.Command(t.Context(), nil, ask("stubborn", "Never end.")...)
			must(b, cmd.Start())
			b.wait("the prompt", func() bool { return len(b.requests("session/prompt")) == 1 })
			must(b, cmd.Process.Signal(signal))
			began := time.Now()
			_ = cmd.Wait()
			b.orphans()
			t.Logf("all gone after %v", time.Since(began).Round(time.Millisecond))
			if d := b.delegations()[0]; d.State != "cancelled" {
				t.Errorf("%+v", d)
			}
		})
	}
}

// A chain of agents that always ask the next one ends by itself: at its depth, and before that by its scope.
func TestDelegateChain(t *testing.T) {
	t.Parallel()
	const next = `ECHOAGENT_TOOL={"name":"delegate","arguments":{"agent":"heron","task":"Hand it on.",` +
		`"delegated_scope":"heron.txt wings","kept_work":"the beak"}}`
	b := delegating(t, map[string][]string{"heron": {next}})
	b.run(proxyBin, "config", "set", "delegation", "off")
	b.set("SIGNET_ACP_DELEGATION=on") // which the whole chain has
	b.try(proxyBin, "delegate", "--to", "heron", "--scope", "heron.txt wings and the beak", "--keep", "the release",
		"Begin.")
	b.orphans()
	all := b.delegations()
	if len(all) != 2 || all[0].Depth != 2 || all[1].Depth != 1 || all[0].Parent != all[1].ID {
		t.Errorf("%d rows: %+v", len(all), all)
	}
	if n := len(b.requests("session/prompt")); n != 2 {
		t.Errorf("%d prompts: %+v", n, all)
	}
}

// An agent in its shell is not the person: what it cancels reads so, and what it did not ask for it cannot cancel.
func TestDelegateCancelledInShell(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"stubborn": {"ECHOAGENT_HANG=session/prompt"}})
	others := strings.TrimSpace(b.run(ask("stubborn", "--detach", "Never end.")...))
	call, err := json.Marshal([]string{"sh", "-c", `"$0" delegations cancel ` + others + `; ` +
		`"$0" delegations cancel "$("$0" delegate --to stubborn --scope heron.txt --keep 'the release' --detach 'Nor this.')"`,
		proxyBin})
	must(b, err)
	b.set("ECHOAGENT_CALL=" + string(call))
	c := b.connect([]string{"--agent", "heron"}, echoBin)
	c.talk("Ask.")
	c.end()
	b.set("ECHOAGENT_CALL=")
	b.run(proxyBin, "delegations", "cancel", others)
	got := map[string]string{}
	for _, d := range b.delegations() {
		got[d.Task] = d.Reason
	}
	want := map[string]string{"Never end.": "the user cancelled it", "Nor this.": "its caller cancelled it"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("why they ended (-want +got):\n%s", diff)
	}
	b.orphans()
}
