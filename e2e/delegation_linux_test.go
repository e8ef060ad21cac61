package e2e

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// runner waits for the process that runs a delegation.
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
	b := delegating(t, map[string][]string{"heron": {"ECHOAGENT_SLOW=500ms"}})
	id := strings.TrimSpace(b.run(ask("heron", "--detach", "Go on.")...))
	b.wait("the prompt", func() bool { return len(b.requests("session/prompt")) == 1 })
	pid := b.runner()
	var before unix.Rlimit
	must(b, unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 0, Max: unix.RLIM_INFINITY}, &before))
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
	b.orphans(patience)
}
