package e2e

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// A runner that is killed in its check leaves nobody behind, and what its child has made.
func TestDelegateKilledInCheck(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_WRITE=heron.txt"}})
	b.set("SIGNET_ACP_DELEGATION_CHECK=echo spoilt >heron.txt; sleep 306")
	id := strings.TrimSpace(b.run(ask("heron", "--mode", "edit", "--detach", "Make it white.")...))
	b.wait("its check", func() bool {
		return strings.Contains(b.run(proxyBin, "delegations", "show", id), "checking: echo spoilt")
	})
	if r := b.try(proxyBin, "delegations", "tell", id, "And the grebe."); r.Code != 1 || !strings.Contains(r.Stderr, "has ended") {
		t.Errorf("a child that has left is told: exit %d, %s", r.Code, r.Stderr)
	}
	all, err := b.Processes()
	must(b, err)
	for _, p := range all {
		if strings.Contains(p.Command, "delegate --run") {
			must(b, kill(p.ID))
		}
	}
	b.orphans()
	if d := b.delegations()[0]; d.State != "lost" || d.Folder == "" {
		t.Errorf("%+v", d)
	}
	if got := b.run(proxyBin, "delegations", "diff", id); !strings.Contains(got, "Make it white.") || strings.Contains(got, "spoilt") {
		t.Errorf("what its child has made:\n%s", got)
	}
}

// Whoever is killed with kill -9 at whatever moment, the caller, the runner, the child or the proxy before it: no task
// is run twice, nobody is left behind, and every row ends in a state that is true. SIGNET_TEST_DELEGATION_KILLS sets
// how often.
func TestDelegateKilled(t *testing.T) {
	t.Parallel()
	runs := number("SIGNET_TEST_DELEGATION_KILLS", 8)
	variables := []string{"ECHOAGENT_SLOW=400ms"}
	if runtime.GOOS == "linux" { // what forks away ends, too
		variables = append(variables, `ECHOAGENT_CALL=["sh","-c","setsid -f sleep 305 >/dev/null 2>&1"]`)
	}
	b := delegating(t, map[string][]string{"heron": variables})
	victims := map[string]func(command string) bool{
		"caller": func(c string) bool { return strings.Contains(c, "delegate --to") },
		"runner": func(c string) bool { return strings.Contains(c, "delegate --run") },
		"proxy":  func(c string) bool { return strings.HasSuffix(c, "--agent heron") },
		"child":  func(c string) bool { return strings.HasPrefix(c, echoBin) },
	}
	names := []string{"caller", "runner", "proxy", "child"}
	var longest time.Duration
	killed := map[string]int{}
	modes := []string{"read", "edit"}
	for i := range runs {
		request := ask("heron", "--mode", modes[i%2], "--key", fmt.Sprint(i), fmt.Sprintf("Task %d.", i))
		cmd := b.Command(t.Context(), nil, request...)
		must(b, cmd.Start())
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(ended)
		}()
		victim := names[rand.IntN(len(names))]
		pause := time.Duration(rand.IntN(650)) * time.Millisecond
		select {
		case <-time.After(pause):
		case <-ended:
		}
		all, err := b.Processes()
		must(b, err)
		for _, p := range all {
			if victims[victim](p.Command) && kill(p.ID) == nil {
				killed[victim]++
			}
		}
		began := time.Now()
		b.orphans()
		longest = max(longest, time.Since(began))
		<-ended
		if rand.IntN(4) == 0 && b.answered(fmt.Sprintf("Task %d.", i)) { // who asks again does not get it done twice
			b.try(request...)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("killed: %v; all gone after %v at most", killed, longest.Round(time.Millisecond))
	b.takeIn()
	// A caller that was killed between its row and its runner leaves one that fails once nobody may begin it any more.
	b.wait("the end of every delegation", func() bool {
		return !slices.ContainsFunc(b.delegations(), func(d delegated) bool { return d.Ended == nil })
	})
	prompts := map[string]int{}
	for _, row := range b.query(`SELECT user FROM turns`) {
		line, _, _ := strings.Cut(row[0], "\n")
		prompts[line]++
	}
	states := map[string]int{}
	seen := map[string]bool{}
	for _, d := range b.delegations() {
		states[d.State]++
		if seen[d.Task] || prompts[d.Task] > 1 {
			t.Errorf("%s: a second row, or %d prompts", d.Task, prompts[d.Task])
		}
		seen[d.Task] = true
		switch {
		case d.State == "done" && (d.Stop != "end_turn" || !strings.Contains(d.Answer, "> "+d.Task)):
			t.Errorf("done, and is not: %+v", d)
		case d.State != "done" && d.Reason == "":
			t.Errorf("nobody knows why: %+v", d)
		}
	}
	if n := len(b.requests("session/prompt")); n > runs {
		t.Errorf("%d prompts for %d tasks", n, runs)
	}
	t.Logf("states: %v", states)
	b.run(ask("heron", "--key", "last", "The last task.")...) // its runner throws away what the others were to
	b.orphans()
	// what is left can be named: it is what was edited
	left := map[string]bool{}
	for _, d := range b.delegations() {
		if d.Folder != "" || d.Tree != "" {
			left[strings.ToLower(d.ID)] = true
		}
	}
	rest, err := filepath.Glob(filepath.Join(b.Signet, "acp", "work", "*"))
	must(b, err)
	refs := strings.Fields(b.run("git", "for-each-ref", "--format=%(refname)"))
	for _, one := range append(rest, refs...) {
		if _, branch := strings.CutPrefix(one, "refs/heads/"); !branch && !left[strings.ToLower(filepath.Base(one))] {
			t.Errorf("nobody names %s", one)
		}
	}
	if len(refs) > len(left)+1 {
		t.Errorf("refs are left: %q", refs)
	}
}

// answered reports whether a task was done, or may have been: what failed is done again for whoever asks.
func (b *box) answered(task string) bool {
	return slices.ContainsFunc(b.delegations(), func(d delegated) bool {
		return d.Task == task && (d.State == "done" || d.State == "lost")
	})
}
