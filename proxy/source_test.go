package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// Past the limit identity goes in from the files, and the memories when they come with the next plain prompt.
func TestLateContext(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	mem.block = make(chan struct{})
	c := w.start(mem, echo(), hurried)
	c.open()
	c.call(1, "session/new", cwd)
	c.prompt(2, "s1", "first")
	first := c.blocks(0)
	if len(first) != 2 || !strings.Contains(first[0], "says the file") {
		t.Fatalf("first prompt: %q", first)
	}
	w.await("s1", correlation.IdentityGiven)
	c.prompt(3, "s1", "second")
	if b := c.blocks(1); len(b) != 1 {
		t.Errorf("second prompt, nothing has come yet: %q", b)
	}
	close(mem.block)
	w.awaitFetch(c, "s1")
	c.prompt(4, "s1", "third")
	third := c.blocks(2)
	if len(third) != 2 || !strings.Contains(third[0], "Robin prefers tabs.") || strings.Contains(third[0], "Alto") {
		t.Errorf("third prompt: %q", third)
	}
	c.prompt(5, "s1", "fourth")
	if b := c.blocks(3); len(b) != 1 {
		t.Errorf("fourth prompt: %q", b)
	}
}

// awaitFetch waits until a session's fetch has ended.
func (w *world) awaitFetch(c *connection, id string) {
	w.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		done := false
		c.know(func(all *session.Connection) {
			s := all.Session(id)
			done = s != nil && s.LookedUp() && s.Fetched()
		})
		if done {
			return
		}
	}
	w.t.Fatal("the fetch did not end")
}

// Somebody else speaks for this session: nothing goes in, now or later.
func TestOwnedElsewhere(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	mem.err = fmt.Errorf("409: %w", memory.ErrOwned)
	c := w.start(mem, echo())
	c.open()
	c.call(1, "session/new", cwd)
	for i := range 3 {
		c.prompt(2+i, "s1", "hello")
		if b := c.blocks(i); len(b) != 1 {
			t.Errorf("prompt %d: %q", i, b)
		}
	}
}

// No source, but identity files: these go in, and no error text. It is asked again with each prompt, under the same
// key, and what it tells when it is back goes with that prompt; a key whose start is in doubt is given up.
func TestBrokenSource(t *testing.T) {
	for name, err := range map[string]error{
		"away": memory.ErrUnavailable, "in doubt": fmt.Errorf("%w: %w", memory.ErrKeySpent, memory.ErrUnavailable),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mem := newSource()
			mem.err = fmt.Errorf("connection refused: %w", err)
			c := w.start(mem, echo())
			c.open()
			c.call(1, "session/new", cwd)
			c.prompt(2, "s1", "hello")
			if b := c.blocks(0); len(b) != 2 || !strings.Contains(b[0], "says the file") ||
				strings.Contains(b[0], "refused") {
				t.Errorf("got %q", b)
			}
			w.await("s1", correlation.IdentityGiven)
			c.prompt(3, "s1", "still there?")
			if b := c.blocks(1); len(b) != 1 {
				t.Errorf("got %q", b)
			}
			mem.mu.Lock()
			mem.err = nil
			mem.mu.Unlock()
			c.prompt(4, "s1", "and now?")
			if b := c.blocks(2); len(b) != 2 || !strings.Contains(b[0], "Robin prefers tabs") ||
				strings.Contains(b[0], "You are Alto") {
				t.Errorf("got %q", b)
			}
			w.await("s1", correlation.Done)
			keys := map[string]bool{}
			for _, who := range mem.starts {
				keys[who.Key] = true
			}
			if spent := name == "in doubt"; len(mem.starts) != 3 ||
				len(keys) != map[bool]int{false: 1, true: 3}[spent] {
				t.Errorf("%d starts under %d keys", len(mem.starts), len(keys))
			}
		})
	}
}

// Without identity files a session whose source was not there stays armed, and is asked for again.
func TestBrokenSourceWithoutFiles(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	mem.identity, mem.err = memory.Context{}, memory.ErrUnavailable
	c := w.start(mem, echo())
	c.open()
	c.call(1, "session/new", cwd)
	c.prompt(2, "s1", "hello")
	mem.mu.Lock()
	mem.err = nil
	mem.mu.Unlock()
	c.prompt(3, "s1", "and now?")
	if first, second := c.blocks(0), c.blocks(1); len(first) != 1 || len(second) != 2 ||
		!strings.Contains(second[0], "You are Alto.") {
		t.Errorf("got %q, then %q", first, second)
	}
}
