package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

// progresses are how far a session has come when its client leaves; slow ones need a harness that does not end a turn
// by itself.
var progresses = []struct {
	name     string
	slow     bool
	converse func(c *client)
}{
	{"no prompt", false, func(c *client) {}},
	{"in a turn", true, func(c *client) { c.beginTurn() }},
	{"cancelled", true, func(c *client) { c.beginTurn(); c.cancel(); c.until(`"stopReason":"cancelled"`) }},
	{"after a turn", false, func(c *client) { c.beginTurn(); c.until(`"stopReason":"end_turn"`) }},
}

// The ways in which acpx and its like leave (docs/facts/acpx.md, "The end of a connection"), and the worse ones.
var leavings = []struct {
	name  string
	leave func(c *client)
}{
	{"acpx 0.19.1, exec and expiry", func(c *client) { c.hangUp(); c.within(100 * time.Millisecond); c.killTree() }},
	{"acpx 0.19.1, sessions close", func(c *client) {
		c.hangUp()
		if !c.within(1300 * time.Millisecond) {
			c.signal(syscall.SIGTERM)
			c.within(12 * time.Second)
			c.signal(os.Kill)
		}
	}},
	{"acpx 0.7.0", func(c *client) {
		c.hangUp()
		if !c.within(100 * time.Millisecond) {
			c.signal(syscall.SIGTERM)
			c.within(1500 * time.Millisecond)
			c.signal(os.Kill)
		}
	}},
	{"Ctrl-C in exec", func(c *client) {
		c.signal(os.Interrupt)
		c.cancel()
		c.hangUp()
		c.within(100 * time.Millisecond)
		c.killTree()
	}},
	{"its owner is killed", func(c *client) { c.hangUp(); c.out.Close() }},
	{"it is killed", func(c *client) { c.signal(os.Kill) }},
	{"it is killed after the end", func(c *client) { c.hangUp(); c.signal(os.Kill) }},
	{"told to end, with stdin open", func(c *client) { c.signal(syscall.SIGTERM) }},
	{"its terminal goes", func(c *client) { c.signal(syscall.SIGHUP); c.signal(syscall.SIGTERM) }},
	{"its stdout is closed", func(c *client) {
		c.out.Close()
		for range 100 { // the answer to one shows it, unless a process that is being started still holds the other end
			err := c.write(`{"jsonrpc":"2.0","id":99,"method":"_anything"}` + "\n")
			if err != nil || c.within(100*time.Millisecond) {
				break
			}
		}
	}},
	{"the harness is killed", func(c *client) {
		for _, pid := range descendants(c.cmd.Process.Pid) {
			if group, err := syscall.Getpgid(pid); err == nil && group == pid { // its guard is in the group, too
				_ = syscall.Kill(pid, syscall.SIGKILL)
				return
			}
		}
	}},
}

// killTree ends the proxy as acpx 0.19.1 does: TERM to every process below it one by one, then to itself, and 1.5 s
// later KILL.
func (c *client) killTree() {
	if c.within(0) {
		return
	}
	tree := append(descendants(c.cmd.Process.Pid), c.cmd.Process.Pid)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, pid := range tree[:len(tree)-1] {
			if parentOf(pid) > 1 { // it may have ended meanwhile
				_ = syscall.Kill(pid, sig)
			}
		}
		_ = c.cmd.Process.Signal(sig)
		if c.within(1500 * time.Millisecond) {
			return
		}
	}
}

// descendants are the processes below one, those nearest to it first.
func descendants(pid int) (below []int) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, folder := range folders {
		if one, err := strconv.Atoi(filepath.Base(folder)); err == nil {
			parent := parentOf(one)
			children[parent] = append(children[parent], one)
		}
	}
	for next := children[pid]; len(next) > 0; {
		slices.Sort(next)
		below = append(below, next...)
		var further []int
		for _, one := range next {
			further = append(further, children[one]...)
		}
		next = further
	}
	return below
}

// parentOf is 0 for a process that has gone.
func parentOf(pid int) int {
	parent, _ := sandbox.StatusOf(pid)
	return parent
}

// startedProcesses are those that must be gone in the end, also those that the sandbox does not know as its own.
type startedProcesses struct {
	mu      sync.Mutex
	started map[int]string
}

func (c *startedProcesses) count(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range append(descendants(pid), pid) {
		if _, started := sandbox.StatusOf(one); started != "" {
			c.started[one] = started
		}
	}
}

func (c *startedProcesses) left() (all []int) {
	for pid, started := range c.started {
		if _, now := sandbox.StatusOf(pid); now == started {
			all = append(all, pid)
		}
	}
	return all
}

// A soakSession is one session of the soak.
type soakSession struct {
	name, words     string
	converse, leave func(c *client)
}

// soak is every kind of harness, left in every way, and every way at every point of a session.
func soak() (all []soakSession) {
	for i, manner := range []string{"leaves", "stays", "stays deaf", "litters", "stays deaf litters"} {
		for j, leaving := range leavings {
			progress, words := progresses[(i+j)%len(progresses)], manner
			if progress.slow {
				words += " slow"
			}
			all = append(all, soakSession{strings.Join([]string{manner, progress.name, leaving.name}, "/"), words,
				progress.converse, leaving.leave})
		}
	}
	return all
}

// 55 sessions with one database, some at a time, are opened, prompted and cancelled and end in every way, before
// harnesses of every manner: no process is left, and the next start brings the database to rest.
func TestSoak(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.unleash(t, "leaves").begin() // makes the database, and stays to the end
	everybody := &startedProcesses{started: map[int]string{}}
	sessions := make(chan soakSession)
	var workers sync.WaitGroup
	for range 16 { // most of the time they wait
		workers.Go(func() {
			for one := range sessions {
				t.Run(one.name, func(t *testing.T) {
					c := b.unleash(t, one.words)
					c.begin()
					one.converse(c)
					everybody.count(c.cmd.Process.Pid)
					one.leave(c)
					c.code()
				})
			}
		})
	}
	for _, one := range soak() {
		sessions <- one
	}
	close(sessions)
	workers.Wait()
	if n := len(everybody.started); n < 3*len(soak()) { // the proxy, the harness and its guard
		t.Errorf("only %d processes were counted", n)
	}
	b.wait("all of them to end", func() bool { return len(everybody.left()) == 0 })
	b.wait("everything but the first proxy and its harness to end", func() bool {
		left, err := b.Processes()
		must(b, err)
		return len(left) == 2
	})

	last := b.unleash(t, "leaves")
	last.begin()
	const atRest = `SELECT (SELECT count(*) FROM processes WHERE ended = 0), (SELECT count(*) FROM turns
		WHERE ended = 0), (SELECT count(*) FROM sessions WHERE state = 'in flight')`
	b.wait("the database to be at rest",
		func() bool { return slices.Equal(b.query(atRest)[0], []string{"2", "0", "0"}) })
}
