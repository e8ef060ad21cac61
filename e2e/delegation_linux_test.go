package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// runner finds the process that runs a delegation, once the other was asked: before that it may be one that starts it.
func (b *box) runner() (pid int) {
	b.t.Helper()
	b.wait("its runner", func() bool {
		all, err := b.Processes()
		must(b, err)
		for _, p := range all {
			if strings.Contains(p.Command, "delegate --run") {
				pid = p.ID
			}
		}
		return pid != 0
	})
	return pid
}

// A runner that can write nothing any more, for the disk is full, neither loses what was done nor says what is not
// true: the row waits for room.
func TestDelegateFullDisk(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": nil})
	letGo := b.holdPrompts()
	id := strings.TrimSpace(b.run(ask("heron", "--detach", "Go on.")...))
	b.wait("the prompt", func() bool { return len(b.requests("session/prompt")) == 1 })
	pid := b.runner()
	var before unix.Rlimit
	must(b, unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 0, Max: unix.RLIM_INFINITY}, &before))
	letGo()
	b.wait("the child's end", func() bool {
		all, err := b.Processes()
		must(b, err)
		for _, p := range all {
			if strings.HasPrefix(p.Command, echoBin) {
				return false
			}
		}
		return true
	})
	if d := b.delegations()[0]; d.State != "running" {
		t.Errorf("without room: %+v", d)
	}
	must(b, unix.Prlimit(pid, unix.RLIMIT_FSIZE, &before, nil))
	b.wait("the end", func() bool { return b.delegations()[0].Ended != nil })
	if d := b.delegations()[0]; d.ID != id || d.State != "done" || !strings.Contains(d.Answer, "> Go on.") {
		t.Errorf("%+v", d)
	}
	b.orphans()
}

// What a delegation costs beyond the other's own session: the runner, and who waits for it. With -v it prints the table
// in docs/facts/delegation.md.
func TestDelegateCost(t *testing.T) {
	t.Parallel()
	b := delegating(t, map[string][]string{"heron": nil, "stubborn": {"ECHOAGENT_HANG=session/prompt"}})
	middle := func(runs int, once func(i int) time.Duration) time.Duration {
		var all []time.Duration
		for i := range runs {
			all = append(all, once(i))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	clock := func(do func()) time.Duration {
		began := time.Now()
		do()
		return time.Since(began)
	}
	session := middle(5, func(int) time.Duration { return clock(func() { b.turnWith("heron", "", "Look.") }) })
	whole := middle(5, func(i int) time.Duration {
		return clock(func() { b.run(ask("heron", "--key", fmt.Sprint(i), "Look.")...) })
	})
	b.orphans()
	cmd := b.Command(t.Context(), nil, ask("stubborn", "Look.")...)
	must(b, cmd.Start())
	b.wait("the prompt", func() bool { return len(b.requests("session/prompt")) == 11 })
	runner := b.runner()
	kept := map[string]int{"runner": peakMemory(b, runner), "who waits": peakMemory(b, cmd.Process.Pid)}
	busy := cpuOf(b, runner)
	must(b, cmd.Process.Signal(unix.SIGTERM)) // which ends what it waits for, too
	_ = cmd.Wait()
	busy += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.orphans()
	t.Logf("a session %v, delegated %v; processor time of the runner, git and who waits %v; KiB at most %v",
		session.Round(time.Millisecond), whole.Round(time.Millisecond), busy.Round(time.Millisecond), kept)
	for who, kib := range kept {
		if kib > 64<<10 {
			t.Errorf("%s takes %d KiB", who, kib)
		}
	}
	bare := b.Command(t.Context(), nil, proxyBin, "delegations")
	must(b, bare.Run())
	start := bare.ProcessState.UserTime() + bare.ProcessState.SystemTime()
	if floor := max(start, 10*time.Millisecond); busy > 50*floor { // as they are counted: in ticks of 10 ms
		t.Errorf("it takes %v of the processor, and our program's start %v", busy, start)
	}
}

// cpuOf is the processor time of a process and of those that it has waited for.
func cpuOf(b *box, pid int) time.Duration {
	b.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(b, err)
	_, rest, _ := strings.Cut(string(text), ") ")
	ticks := 0
	for _, field := range strings.Fields(rest)[11:15] {
		n, err := strconv.Atoi(field)
		must(b, err)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
