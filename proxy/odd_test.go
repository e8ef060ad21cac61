package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
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

// A load that is never answered holds nothing up, and a prompt behind it is a prompt like any other.
func TestLoadWithoutAnswer(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	p := &scenario{T: t, w: w, model: newModel(), mem: mem, change: func(*Options) {}}
	p.start()
	steps["new"](p)
	p.c.close()
	process := p.model.process()
	process.open[p.id] = true
	c := w.start(mem, func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) != "session/load" {
			process.agent(f, line, say)
		}
	}, longLimits)
	c.open()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":%q,"cwd":"/tmp/x"}}`, p.id)
	c.prompt(2, p.id, "hello")
	if b := c.blocks(0); len(b) != 2 {
		t.Errorf("the prompt: %q", b)
	}
	c.close()
	s := w.session("model", p.id)
	turns, err := w.store.Turns(context.Background(), s.ID)
	if s.State != correlation.Done || err != nil || len(turns) != 1 {
		t.Errorf("state %q, %d turns, %v", s.State, len(turns), err)
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

// An older daemon gives the files in one text and the memories as items: where the local files were all that came in
// time, the memories go in later, and the files no second time.
func TestLateMixedContext(t *testing.T) {
	p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource()}
	late(p)
	p.mem.context = memory.Context{Source: "daemon", Mixed: "Name: Alto, once more.",
		Items: []memory.Item{{Text: "Robin prefers tabs."}}}
	p.start()
	for _, step := range parse("new, prompt, memories come, prompt") {
		steps[step](p)
	}
	if got := p.carried(); got != "memories" {
		t.Errorf("the last prompt carries %q", got)
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

// A session that is closed and loaded again without a pause is held by the process: its end waits for the last words,
// and may be written down behind its new beginning.
func TestClosedAndLoadedAgain(t *testing.T) {
	w := newWorld(t)
	c := w.start(newSource(), echo(), longLimits)
	c.open()
	c.call(1, "session/new", cwd)
	c.prompt(2, "s1", "hello")
	held := func() (n int) {
		t.Helper()
		if err := w.db.QueryRow(`SELECT count(*) FROM attachments`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := range 5 {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/close","params":{"sessionId":"s1"}}`, 10+i)
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/load","params":{"sessionId":"s1","cwd":"/tmp/x",`+
			`"mcpServers":[]}}`, 20+i)
		c.until(fmt.Sprintf(`"id":%d,`, 20+i))
		c.prompt(30+i, "s1", "and now?")
		c.synced()
		if n := held(); n != 1 {
			t.Fatalf("round %d: %d processes hold the session, want this one", i, n)
		}
	}
	c.call(9, "session/close", `{"sessionId":"s1"}`)
	for deadline := time.Now().Add(patience); held() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the session that was closed is held")
		}
	}
	c.close()
}
