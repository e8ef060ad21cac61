package e2e

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Several with one key at once are one.
func TestDelegateOnce(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_SLOW=200ms"}})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if r := b.try(ask("heron", "--key", "one", "Once.")...); r.Code != 0 ||
				!strings.Contains(r.Stdout, "> Once.") {
				t.Errorf("exit %d\n%s%s", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
	all.Wait()
	if n := len(b.requests("session/prompt")); n != 1 || len(b.delegations()) != 1 {
		t.Errorf("%d prompts, %d rows", n, len(b.delegations()))
	}
	b.orphans()
}

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
	t.Run("detached", func(t *testing.T) {
		t.Parallel()
		b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_SLOW=500ms"}})
		id := strings.TrimSpace(b.run(ask("heron", "--detach", "Go on.")...))
		b.wait("the end", func() bool { return b.delegations()[0].State == "done" })
		if d := b.delegations()[0]; d.ID != id || !strings.Contains(d.Answer, "> Go on.") {
			t.Errorf("%+v", d)
		}
		b.orphans()
	})
}

// A runner that is killed leaves a row that says so, and no child.
func TestDelegateRunnerKilled(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"stubborn": {"ECHOAGENT_HANG=session/prompt"}})
	b.run(ask("stubborn", "--detach", "Never end.")...)
	b.wait("the prompt", func() bool { return len(b.requests("session/prompt")) == 1 })
	b.killAll(t, "--run")
	b.orphans()
	if d := b.delegations()[0]; d.State != "lost" {
		t.Errorf("%+v", d)
	}
}

// killAll kills what runs with a word in its command line.
func (b *box) killAll(t *testing.T, word string) {
	t.Helper()
	all, err := b.Processes()
	must(b, err)
	for _, p := range all {
		if strings.Contains(p.Command, word) {
			_ = kill(p.ID) // it may have ended
		}
	}
}

// A chain of agents that always ask the next one ends by itself: at its depth, and before that by its scope.
func TestDelegateChain(t *testing.T) {
	t.Parallel()
	const next = `ECHOAGENT_TOOL={"name":"delegate","arguments":{"agent":"heron","task":"Hand it on.",` +
		`"delegated_scope":"heron.txt wings","kept_work":"the beak"}}`
	b := delegating(t, map[string][]string{"heron": {next}})
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
