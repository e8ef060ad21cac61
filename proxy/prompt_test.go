package proxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// Prompts that cannot carry a block, or may not, arrive as they were sent, and the session's next plain one carries it.
func TestPromptsThatPass(t *testing.T) {
	tests := []struct{ name, prompt string }{
		{"slash command", `{"sessionId":"s1","prompt":[{"type":"text","text":"/help me"}]}`},
		{"slash command behind space", `{"sessionId":"s1","prompt":[{"type":"text","text":"  \n/help"}]}`},
		{"slash command behind an image", `{"sessionId":"s1","prompt":[{"type":"image","data":"x","mimeType":"y"},{"type":"text","text":"/help"}]}`},
		{"empty array", `{"sessionId":"s1","prompt":[]}`},
		{"no array", `{"sessionId":"s1","prompt":"hello"}`},
		{"null", `{"sessionId":"s1","prompt":null}`},
		{"missing", `{"sessionId":"s1"}`},
		{"unknown session", `{"sessionId":"nobody","prompt":[{"type":"text","text":"hi"}]}`},
		{"wrong case", `{"SessionId":"s1","prompt":[{"type":"text","text":"hi"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			c := w.start(newSource(), echo())
			c.open()
			c.call(1, "session/new", cwd)
			c.call(2, "session/prompt", tt.prompt)
			if got := c.got(`"session/prompt"`); len(got) != 1 || !strings.Contains(got[0], `"params":`+tt.prompt) {
				t.Fatalf("the agent got %q", got)
			}
			c.prompt(3, "s1", "a plain one")
			if b := c.blocks(1); len(b) != 2 {
				t.Errorf("the next prompt: %q", b)
			}
		})
	}
}

// Odd spellings of a prompt are prompts all the same.
func TestPromptSpellings(t *testing.T) {
	const text = `[{"type":"text","text":"hi"}]`
	tests := []struct{ name, line string }{
		{"method last", `{"params":{"prompt":` + text + `,"sessionId":"s1"},"id":2,"jsonrpc":"2.0","method":"session/prompt"}`},
		{"escaped keys", `{"jsonrpc":"2.0","id":2,"\u006dethod":"session\/prompt","params":{"sessionI\u0064":"s1","prompt":` + text + `}}`},
		{"duplicate method", `{"jsonrpc":"2.0","id":2,"method":"session/set_mode","method":"session/prompt","params":{"sessionId":"s1","prompt":` + text + `}}`},
		{"duplicate prompt", `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"/no"}],"prompt":` + text + `}}`},
		{"white space", " \t{ \"jsonrpc\" : \"2.0\" , \"id\" : 2 , \"method\" : \"session/prompt\" , \"params\" : { \"sessionId\" : \"s1\" , \"prompt\" : " + text + " } } \r"},
		{"decoys", `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"_meta":{"prompt":[1],"method":"x"},"sessionId":"s1","prompt":` + text + `}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newWorld(t).start(newSource(), echo())
			c.open()
			c.call(1, "session/new", cwd)
			c.send("%s", tt.line)
			c.until(`"id":2,`)
			got := c.got(`"hi"`)
			if len(got) != 1 {
				t.Fatalf("the agent got %q", got)
			}
			block := strings.Index(got[0], `{"type":"text","text":"<signet-memory`)
			if block < 0 {
				t.Fatalf("no block in %q", got[0])
			}
			end := strings.Index(got[0][block:], `"}}},`) + block + len(`"}}},`)
			if rest := got[0][:block] + got[0][end:]; rest != tt.line+"\n" {
				t.Errorf("apart from the block:\n%q, want\n%q", rest, tt.line+"\n")
			}
		})
	}
}

// await waits for a session to reach a state in the ledger.
func (w *world) await(id string, state correlation.State) {
	w.t.Helper()
	var s correlation.Session
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if s, _ = w.store.Find(w.t.Context(), "echo", id); s.State == state {
			return
		}
	}
	w.t.Fatalf("state of %s is %q, want %q", id, s.State, state)
}

// Both forms of cancel end the wait of a held prompt: it leaves as it came, then the cancel, and the session stays
// armed.
func TestCancelWhileHeld(t *testing.T) {
	tests := []struct{ name, cancel string }{
		{"session", `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`},
		{"request", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, mem := newWorld(t).holding()
			c.call(1, "session/new", cwd)
			c.sendPrompt(2, "s1", "slow")
			c.send(`{"jsonrpc":"2.0","method":"_between","params":{}}`)
			c.send("%s", tt.cancel)
			c.until(`"id":2,`)
			c.call(3, "session/set_mode", `{}`)
			var order []string
			for _, line := range c.got("") {
				var f map[string]json.RawMessage
				if json.Unmarshal([]byte(line), &f) == nil {
					order = append(order, method(f))
				}
			}
			want := []string{"initialize", "session/new", "session/prompt", "_between",
				strings.Split(tt.cancel, `"`)[7], "session/set_mode"}
			if !slices.Equal(order, want) {
				t.Errorf("the agent got %q, want %q", order, want)
			}
			if b := c.blocks(0); len(b) != 1 {
				t.Errorf("the cancelled prompt: %q", b)
			}
			close(mem.block)
			c.prompt(4, "s1", "now")
			if b := c.blocks(1); len(b) != 2 {
				t.Errorf("the next prompt: %q", b)
			}
		})
	}
}

// A prompt may switch us off, the first or a later one, however long it is and wherever it says so.
func TestSwitchedOff(t *testing.T) {
	long := fmt.Sprintf(`"prompt":[{"type":"text","text":%q}]`, strings.Repeat("words ", 130<<10/6))
	const off = `"_meta":{"signet.ai":{"inject":false}}`
	for name, tt := range map[string]struct {
		before int // prompts
		params string
	}{
		"the first": {0, `"prompt":[{"type":"text","text":"x"}],` + off},
		"in front":  {1, off + "," + long}, "behind": {1, long + "," + off},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.start(newSource(), echo())
			c.open()
			c.call(1, "session/new", cwd)
			for range tt.before {
				c.prompt(2, "s1", "hello")
			}
			c.call(3, "session/prompt", `{"sessionId":"s1",`+tt.params+`}`)
			c.prompt(4, "s1", "hello")
			for i := range 2 {
				if b := c.blocks(tt.before + i); len(b) != 1 {
					t.Errorf("%d prompts later: %q", i, b)
				}
			}
			w.await("s1", correlation.Off)
		})
	}
}

// More frames than may wait stand behind a held prompt: the reader waits, and the order holds.
func TestQueueLimit(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	mem.block = make(chan struct{})
	c := w.start(mem, echo(), hurried)
	c.open()
	c.call(1, "session/new", cwd)
	c.sendPrompt(2, "s1", "slow")
	const n = 3 * wire.MaxQueuedFrames
	for i := range n {
		c.send(`{"jsonrpc":"2.0","method":"_n","params":{"n":%d}}`, i)
	}
	c.until(`"id":2,`)
	c.call(3, "session/set_mode", "{}")
	got := c.got(`"_n"`)
	if len(got) != n {
		t.Fatalf("%d of %d arrived", len(got), n)
	}
	for i, line := range got {
		if !strings.Contains(line, fmt.Sprintf(`"n":%d}`, i)) {
			t.Fatalf("at place %d stands %q", i, line)
		}
	}
}

// holding opens a connection whose prompts are held until the source's block is closed.
func (w *world) holding() (*connection, *source) {
	w.t.Helper()
	mem := newSource()
	mem.block = make(chan struct{})
	c := w.start(mem, echo(), func(o *Options) { o.HoldLimit = time.Hour })
	c.open()
	return c, mem
}
