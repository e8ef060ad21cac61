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

// lost is claude's way: a session without a prompt is gone in the next process.
func lost(r *modelProcess, code int) agent {
	return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if m := method(f); m == "session/load" || m == "session/resume" {
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"Resource not found"}}`, f["id"], code)
			return
		}
		r.agent(f, line, say)
	}
}

// A session whose load fails is continued by the new one right behind it, with record, key and the context that was not
// used. When it is not package session says.
func TestContinuesFailedLoad(t *testing.T) {
	const load = `{"sessionId":"model-session-0001","cwd":"/tmp/x","mcpServers":[]}`
	tests := []struct {
		name    string
		between func(p *scenario)
		record  string // that acpx has for it
	}{
		{name: "at once, by acpx", record: "model-session-0001"},
		{"a list in between, by acpx", func(p *scenario) { p.ask("session/list", `{}`) }, "model-session-0001"},
		{name: "resume", between: func(p *scenario) { p.ask("session/resume", load) }},
		{name: "a mode in between", between: func(p *scenario) { p.ask("session/set_mode", `{}`) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource(), change: func(*Options) {}}
			p.start()
			steps["new"](p)
			p.w.awaitFetch(p.c, p.id)
			p.c.synced()
			p.c.close()
			first := p.w.session("model", p.id)

			p.process = p.model.process()
			p.c = p.w.start(p.mem, lost(p.process, -32002), longLimits, func(o *Options) {
				o.Record = func(string) string { return tt.record }
			})
			p.ask("initialize", `{"protocolVersion":1,"clientInfo":{"name":"acpx","version":"1"}}`)
			p.ask("session/load", load)
			if tt.between != nil {
				tt.between(p)
			}
			p.id, _ = stringAt([]byte(p.ask("session/new", cwd)), "result", "sessionId")
			p.prompt("a plain prompt", succeed)
			if got := p.carried(); got != whole {
				t.Errorf("the prompt carries %q", got)
			}
			p.c.close()
			got := p.w.session("model", p.id)
			if got.ContinueOf != first.ID {
				t.Errorf("it continues %d, the first was %d", got.ContinueOf, first.ID)
			}
			if n := p.mem.started(); n != 1 {
				t.Errorf("the source was asked %d times", n)
			}
			if got.Key != first.Key {
				t.Errorf("its key is %s, the first one's was %s", got.Key, first.Key)
			}
			if got.State != correlation.Done || got.Record != tt.record {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A harness without load gets a new session in each process: the record tells that they are one conversation.
func TestSilentReplacement(t *testing.T) {
	p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource()}
	record := ""
	p.change = func(o *Options) { o.Record = func(string) string { return record } }
	p.start() // `sessions new`: no owner yet
	steps["new"](p)
	p.w.awaitFetch(p.c, p.id)
	p.c.close()
	before, record := p.w.session("model", p.id), p.id
	for i := range 3 {
		p.change = func(o *Options) { o.Record = func(string) string { return record } }
		p.start()
		steps["new"](p)
		p.prompt("a plain prompt", succeed)
		if got := p.carried(); got != whole {
			t.Errorf("in process %d the prompt carries %q", i, got)
		}
		p.c.close()
		got := p.w.session("model", p.id)
		if got.ContinueOf != before.ID || got.Record != record {
			t.Errorf("in process %d: %+v does not continue %d", i, got, before.ID)
		}
		if same := got.Key == before.Key; same != (i == 0) { // only the first one's context was left
			t.Errorf("in process %d the key is %s, before it was %s", i, got.Key, before.Key)
		}
		before = got
	}
	if n := p.mem.started(); n != 3 {
		t.Errorf("the source was asked %d times", n)
	}
}

// A stored context is as old as its fetch, however often it was looked at.
func TestStoredContextAges(t *testing.T) {
	p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource()}
	now := time.Now()
	p.change = func(o *Options) { o.ContextAge = time.Hour }
	p.start()
	steps["new"](p)
	p.w.awaitFetch(p.c, p.id)
	p.c.close()
	key := p.w.session("model", p.id).Key
	for range 3 { // set, set-mode: processes that see no prompt
		p.start()
		steps["load"](p)
		p.c.close()
	}
	var at int64
	if err := p.w.db.QueryRow(`SELECT at FROM stored_contexts`).Scan(&at); err != nil {
		t.Fatal(err)
	}
	if stored := time.UnixMilli(at); stored.Before(now.Add(-time.Second)) {
		t.Errorf("stored at %v", stored)
	}
	first := p.mem.started()
	if _, err := p.w.db.Exec(`UPDATE stored_contexts SET at = at - 2 * 3600 * 1000`); err != nil {
		t.Fatal(err)
	}
	p.start()
	steps["load"](p)
	p.prompt("a plain prompt", succeed)
	p.c.close()
	if got := p.w.session("model", p.id); got.Key == key || p.mem.started() != first+1 || first != 1 {
		t.Errorf("key %s, was %s; asked %d times, then %d", got.Key, key, first, p.mem.started())
	}
	var left int
	if err := p.w.db.QueryRow(`SELECT count(*) FROM stored_contexts`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d contexts are left, %v", left, err)
	}
}

// What is kept for the next process holds no secret and nothing private.
func TestStoredContextIsClean(t *testing.T) {
	const secret = "sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz"
	raw := "It holds " + secret + " and <private>CANARY-Xy99Zq</private>."
	tests := map[string]memory.Context{
		"identity": {Identity: raw},
		"notes":    {Notes: raw},
		"mixed":    {Mixed: raw},
		"item":     {Items: []memory.Item{{ID: "m1", Text: raw}}},
	}
	for name, got := range tests {
		t.Run(name, func(t *testing.T) {
			mem := newSource()
			mem.context = got
			w := newWorld(t)
			c := w.start(mem, echo())
			c.open()
			c.call(1, "session/new", cwd)
			w.awaitFetch(c, "s1")
			c.close()
			var stored string
			if err := w.db.QueryRow(`SELECT payload FROM stored_contexts`).Scan(&stored); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(stored, "It holds") || strings.Contains(stored, secret) ||
				strings.Contains(stored, "CANARY") {
				t.Errorf("stored: %s", stored)
			}
		})
	}
}

// Two processes that open one session at once inject once between them.
func TestTwoProxies(t *testing.T) {
	p := &scenario{T: t, w: newWorld(t), model: newModel(), mem: newSource(), change: func(*Options) {}}
	p.start()
	steps["new"](p)
	one := p.c
	p.start()
	steps["load"](p)
	other := p.c
	for i, c := range []*connection{one, other} {
		c.sendPrompt(100+i, p.id, "hello")
	}
	one.until(`"id":100,`)
	other.until(`"id":101,`)
	if n := p.model.contexts(p.id); n != 1 {
		t.Errorf("the context stands there %d times", n)
	}
}

// Two harnesses may use one id. One of them alone is taken for the other only where it has changed its name and the id
// is one of a kind.
func TestSameID(t *testing.T) {
	for _, tt := range []struct {
		id   string
		same bool
	}{{"1", false}, {"0b1c7a4e-9f22-4f2e-8f4e-4a2f5d1c9b10", true}} {
		w := newWorld(t)
		named := func(name string) agent {
			return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
				switch method(f) {
				case "initialize":
					say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentInfo":{"name":%q}}}`,
						f["id"], name)
				case "session/new":
					say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":%q}}`, f["id"], tt.id)
				default:
					say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, f["id"])
				}
			}
		}
		c := w.start(newSource(), named("old-name"), longLimits)
		c.open()
		c.call(1, "session/new", cwd)
		c.prompt(2, tt.id, "hello")
		c.close()
		c = w.start(newSource(), named("new-name"), longLimits)
		c.open()
		c.call(1, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/tmp/x"}`, tt.id))
		c.prompt(2, tt.id, "hello")
		if same := len(c.blocks(0)) == 1; same != tt.same {
			t.Errorf("id %s: the prompt is %q", tt.id, c.blocks(0))
		}
		c.close()
		all, err := w.store.Sessions(context.Background(), 0)
		if err != nil || len(all) != map[bool]int{true: 1, false: 2}[tt.same] {
			t.Errorf("id %s: %d sessions, %v", tt.id, len(all), err)
		}
	}
}
