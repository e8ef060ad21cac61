package proxy

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

const cwd = `{"cwd":"/tmp/x","mcpServers":[]}`

func TestFirstPromptGetsContext(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	c := w.start(mem, echo())
	c.open()
	c.call(1, "session/new", cwd)
	c.prompt(2, "s1", "hello there")
	c.prompt(3, "s1", "and again")

	first := c.blocks(0)
	if len(first) != 2 || !strings.HasPrefix(first[0], session.OpenMark) || first[1] != "hello there" {
		t.Fatalf("first prompt: %q", first)
	}
	for _, part := range []string{"You are Alto.", "Robin prefers tabs."} {
		if !strings.Contains(first[0], part) {
			t.Errorf("the block lacks %q", part)
		}
	}
	if second := c.blocks(1); len(second) != 1 || second[0] != "and again" {
		t.Errorf("second prompt: %q", second)
	}
	c.close()
	s := w.session("echo", "s1")
	if s.State != correlation.Done || s.Client != "tester" || s.Agent != "echo" || s.Cwd != "/tmp/x" {
		t.Errorf("session: %+v", s)
	}
	turns, err := w.store.Book().Turns(t.Context(), s.ID)
	if err != nil || len(turns) != 2 {
		t.Fatalf("turns: %v, %v", turns, err)
	}
	if turns[0].User != "hello there" || turns[0].Assistant != "heard" || turns[0].Stop != "end_turn" {
		t.Errorf("turn: %+v", turns[0])
	}
	given, err := w.store.Injections(t.Context(), s.ID)
	if err != nil || len(given) != 1 || given[0].Text != first[0] {
		t.Errorf("ledger: %+v, %v", given, err)
	}
	if mem.started() != 1 {
		t.Errorf("asked %d times", mem.started())
	}
}

// acpx opens a session in one process and prompts in others.
func TestContextOnceOverProcesses(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	a := echo()
	c := w.start(mem, a)
	c.open()
	c.call(1, "session/new", cwd)
	c.close()

	c = w.start(mem, a)
	c.open()
	c.call(1, "session/load", `{"sessionId":"s1","cwd":"/tmp/x","mcpServers":[]}`)
	c.prompt(2, "s1", "first")
	if first := c.blocks(0); len(first) != 2 {
		t.Fatalf("first prompt: %q", first)
	}
	c.close()
	if n := mem.started(); n != 1 {
		t.Errorf("asked %d times, the stored context was there to use", n)
	}

	c = w.start(mem, a)
	c.open()
	c.call(1, "session/load", `{"sessionId":"s1","cwd":"/tmp/x","mcpServers":[]}`)
	c.prompt(2, "s1", "second")
	if second := c.blocks(0); len(second) != 1 {
		t.Fatalf("second prompt: %q", second)
	}
	c.close()
	if s := w.session("echo", "s1"); s.State != correlation.Done {
		t.Errorf("state %q", s.State)
	}
}
