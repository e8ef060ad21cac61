package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
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
			done = s != nil && s.Fetched()
		})
		if done {
			return
		}
	}
	w.t.Fatal("the fetch did not end")
}
