package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// A harness may call its sessions what it likes.
func TestOddSessionIDs(t *testing.T) {
	for name, id := range map[string]string{
		"of a megabyte":      strings.Repeat("x", 1<<20),
		"control characters": "a\x00\x01\x1b[2J\u202e\r\n",
		"SQL":                `'; DROP TABLE sessions; --`,
		"a path":             "../../../etc/passwd",
		"no UTF-8 in JSON":   "\ufffd",
		"a pattern":          "%_*",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			quoted, _ := json.Marshal(id)
			plain := echo()
			a := func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
				if method(f) == "session/new" {
					say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":%s}}`, f["id"], quoted)
					return
				}
				plain(f, line, say)
			}
			prompt := fmt.Sprintf(`{"sessionId":%s,"prompt":[{"type":"text","text":"hello"}]}`, quoted)
			c := w.start(newSource(), a, longLimits, func(o *Options) { o.Record = Acpx{Home: t.TempDir()}.Record })
			c.open()
			c.call(1, "session/new", cwd)
			c.call(2, "session/prompt", prompt)
			if b := c.blocks(0); len(b) != 2 {
				t.Errorf("the prompt: %d blocks", len(b))
			}
			c.close()
			c = w.start(newSource(), a, longLimits)
			c.open()
			c.call(1, "session/load", fmt.Sprintf(`{"sessionId":%s,"cwd":"/tmp/x"}`, quoted))
			c.call(2, "session/prompt", prompt)
			if b := c.blocks(0); len(b) != 1 {
				t.Errorf("the second prompt: %d blocks", len(b))
			}
			c.call(3, "session/fork", fmt.Sprintf(`{"sessionId":%s,"cwd":"/tmp/x"}`, quoted))
			c.call(4, "session/close", fmt.Sprintf(`{"sessionId":%s}`, quoted))
			c.close()
			if got := w.session("echo", id); got.State != correlation.Done {
				t.Errorf("state %q", got.State)
			}
		})
	}
}

// A person may have a conversation forgotten that is still going on: nothing more of it is kept, and nothing breaks.
func TestForgottenWhileLive(t *testing.T) {
	p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource(), change: func(*Options) {}}
	p.start()
	steps["new"](p)
	p.prompt("hello there", succeed)
	if _, err := p.w.db.Exec(`DELETE FROM sessions`); err != nil {
		t.Fatal(err)
	}
	p.prompt("hello again", succeed)
	p.prompt("and again", succeed)
	p.c.close()
	all, err := p.w.store.Sessions(context.Background(), 0)
	if err != nil || len(all) != 0 {
		t.Errorf("%d sessions, %v", len(all), err)
	}
}

// A session that the harness refuses to close goes on as before.
func TestCloseThatFails(t *testing.T) {
	w := newWorld(t)
	plain := echo()
	c := w.start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) == "session/close" {
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"busy"}}`, f["id"])
			return
		}
		plain(f, line, say)
	})
	c.open()
	c.call(1, "session/new", cwd)
	c.prompt(2, "s1", "one")
	c.call(3, "session/close", `{"sessionId":"s1"}`)
	c.prompt(4, "s1", "two")
	c.close()
	turns, err := w.store.Turns(t.Context(), w.session("echo", "s1").ID)
	if err != nil || len(turns) != 2 || turns[1].User != "two" {
		t.Errorf("%d turns are kept (%v)", len(turns), err)
	}
}
