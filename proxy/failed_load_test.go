package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// lost is a model that takes no session up again, as claude does none without a prompt. It answers with code.
func lost(r *modelProcess, code int) agent {
	return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if m := method(f); m == "session/load" || m == "session/resume" {
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"Resource not found"}}`, f["id"], code)
			return
		}
		r.agent(f, line, say)
	}
}

// A harness that refuses to load gets a new session in each process, and so does one without load: the record tells that
// they are one conversation, and a context that was not used goes with its key.
func TestOneRecord(t *testing.T) {
	for _, loads := range []bool{true, false} {
		p := newScenario(t)
		record := ""
		p.change = func(o *Options) { o.Record = func(string) string { return record } }
		p.start(asItIs) // `sessions new`: no owner yet
		p.open("session/new")
		p.w.awaitFetch(p.c, p.id)
		p.c.close()
		before := p.w.session("model", p.id)
		record = p.id
		for i := range 2 {
			p.start(func(r *modelProcess) agent { return lost(r, -32002) })
			if loads {
				p.ask("session/load", loadParams(p.id))
				p.ask("session/list", `{}`)
			}
			p.open("session/new")
			p.prompt("a plain prompt", succeed)
			if got := p.c.blocks(0); len(got) != 2 || !strings.Contains(got[0], "You are Alto.") {
				t.Errorf("in process %d the prompt carries %q", i, got)
			}
			p.c.close()
			got := p.w.session("model", p.id)
			if got.ContinueOf != before.ID || got.Record != record || got.State != correlation.Done {
				t.Errorf("in process %d: %+v does not continue %d", i, got, before.ID)
			}
			if same := got.Key == before.Key; same != (i == 0) { // only the first one's context was left
				t.Errorf("in process %d the key is %s, before it was %s", i, got.Key, before.Key)
			}
			before = got
		}
		if n := p.mem.started(); n != 2 {
			t.Errorf("the source was asked %d times", n)
		}
	}
}

// What is kept for the next process holds no secret and nothing private.
func TestStoredContextIsClean(t *testing.T) {
	const secret = "sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz"
	raw := "It holds " + secret + " and <private>CANARY-Xy99Zq</private>."
	for name, got := range map[string]memory.Context{
		"identity": {Identity: raw}, "tools": {ToolNotes: raw}, "notes": {Notes: raw}, "mixed": {Mixed: raw},
		"item": {Items: []memory.Item{{ID: "m1", Text: raw}}},
	} {
		stored := string(storable(got))
		if !strings.Contains(stored, "It holds") || strings.Contains(stored, secret) || strings.Contains(stored, "CANARY") {
			t.Errorf("%s is stored as %s", name, stored)
		}
	}
	if stored := storable(memory.Context{Fetched: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}); stored != nil {
		t.Errorf("what JSON cannot hold is stored as %s", stored)
	}
}

// A stored context is as old as its fetch, however often a process that sees no prompt takes it over.
func TestStoredContextAges(t *testing.T) {
	fetched := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	q := newQuiet(t, remembering(newSource()))
	q.database.backend.Load().Ledger.(*shelf).stored = fmt.Appendf(nil, `{"Identity":"You are Bass.","Fetched":%q}`,
		fetched.Format(time.RFC3339))
	q.sends(t, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":`+loadParams("s0")+`}`)
	q.says(t, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	q.settle(t, "s0")
	var kept []time.Time
	for _, e := range q.events.take() {
		if e, ok := e.(correlation.ContextStored); ok {
			kept = append(kept, e.Fetched)
		}
	}
	if len(kept) != 1 || !kept[0].Equal(fetched) {
		t.Errorf("stored at %v", kept)
	}
	if got := q.sends(t, promptTo("s0", "["+textBlock("hello")+"]")); !strings.Contains(got, "You are Bass.") {
		t.Errorf("the prompt is %s", got)
	}
}
