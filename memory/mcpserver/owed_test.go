package mcpserver

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// debts keeps what is owed.
type debts struct {
	mu   sync.Mutex
	owed []string
	back int
}

func (d *debts) leave(expected bool) func(*Options) {
	return func(o *Options) {
		o.Owe = func(_ context.Context, who memory.Session, note signet.Note) (bool, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if expected {
				d.owed = append(d.owed, who.Key+": "+note.Content)
			}
			return expected, nil
		}
		o.OnDaemon = func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.back++
		}
	}
}

func (d *debts) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.owed...)
}

// What a tool stores while the daemon stalls or is away is owed to it, kept here meanwhile, and says so; nobody waits
// for long to find out.
func TestStoreIsOwed(t *testing.T) {
	private := map[string]any{"content": "Robin rows. <private>secretly</private>"}
	for name, fail := range map[string]func(*daemontest.Daemon){
		"away":      func(d *daemontest.Daemon) { d.Stop() },
		"stalled":   func(d *daemontest.Daemon) { d.Fail(daemontest.Fault{Kind: daemontest.BlackHole}) },
		"drops":     func(d *daemontest.Daemon) { d.Fail(daemontest.Fault{Path: "/mcp", Kind: daemontest.Drop}) },
		"no answer": func(d *daemontest.Daemon) { d.Fail(daemontest.Fault{Path: "/mcp", Kind: daemontest.DropAfter}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := daemontest.Start(t, daemontest.Options{MCP: newStandIn().handler})
			var owed debts
			c := connect(t, newServer(t, newStore(t), withDaemon(t, d), owed.leave(true)), robin)
			c.until("agent_peers", true)
			fail(d)
			words, failed := c.call("memory_store", private)
			if failed || !strings.Contains(words, `"status":"stored"`) ||
				!strings.Contains(words, "will be delivered later") {
				t.Errorf("%v, %s", failed, words)
			}
			if diff := cmp.Diff([]string{"acp-1: Robin rows."}, owed.all()); diff != "" {
				t.Error(diff)
			}
			var found struct{ Results []embedded.Memory }
			// another may be asked itself by now
			if c.ok("memory_search", map[string]any{"query": "Robin rows"}, &found); len(found.Results) != 1 &&
				name == "away" {
				t.Errorf("found meanwhile: %+v", found)
			}
			d.Heal()
			_ = d.Resume()
			c.until("agent_peers", true)
			for deadline := time.Now().Add(patience); ; {
				owed.mu.Lock()
				back := owed.back
				owed.mu.Unlock()
				if back >= 2 { // at the beginning, and now
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("told that it is back %d times", back)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	t.Run("nobody expects a daemon", func(t *testing.T) {
		d := daemontest.Start(t, daemontest.Options{})
		d.Stop()
		var owed debts
		c := connect(t, newServer(t, newStore(t), withDaemon(t, d), owed.leave(false)), robin)
		if words, failed := c.call("memory_store", private); failed || strings.Contains(words, "daemon") {
			t.Errorf("%v, %s", failed, words)
		}
	})
	t.Run("only a daemon", func(t *testing.T) {
		d := daemontest.Start(t, daemontest.Options{})
		d.Stop()
		var owed debts
		c := connect(t, newServer(t, nil, withDaemon(t, d), owed.leave(true)), robin)
		if words, failed := c.call("memory_store", private); failed ||
			!strings.Contains(words, `"status":"owed"`) || len(owed.all()) != 1 {
			t.Errorf("%v, %s", failed, words)
		}
	})
}

// The first list is whole before the daemon has been asked, and corrected once it has.
func TestToolsAreRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.json")
	remember := func(o *Options) { o.ToolCache, o.Poll = file, time.Hour }
	stand := newStandIn()
	d := daemontest.Start(t, daemontest.Options{MCP: stand.handler})
	c := connect(t, newServer(t, newStore(t), withDaemon(t, d), remember), robin)
	c.until("agent_peers", true)
	all := c.names()

	d.Fail(daemontest.Fault{Path: "/health", Kind: daemontest.Slow, Delay: 300 * time.Millisecond, Times: 1})
	c = connect(t, newServer(t, newStore(t), withDaemon(t, d), remember), robin)
	if diff := cmp.Diff(all, c.names()); diff != "" {
		t.Errorf("the first list (-want +got):\n%s", diff)
	}
	var answer struct{ By string }
	if c.ok("memory_store", sample["memory_store"], &answer); answer.By != "daemon" { // waits until it is known
		t.Errorf("answered by %q", answer.By)
	}

	d.Stop() // and gone the next time
	c = connect(t, newServer(t, newStore(t), withDaemon(t, d), remember), robin)
	c.until("agent_peers", false)

	other := daemontest.Start(t, daemontest.Options{}) // one at another address is another one
	if got := connect(t, newServer(t, newStore(t), withDaemon(t, other), remember),
		robin).names(); cmp.Diff(ourNames, got) != "" {
		t.Errorf("of another daemon: %v", got)
	}
}

// The session's key and hints are filled in where a tool takes them; what the model says of the key does not count,
// for it cannot know it.
func TestFill(t *testing.T) {
	schema := func(required []any, names ...string) map[string]any {
		properties := map[string]any{}
		for _, name := range names {
			properties[name] = map[string]any{"type": "string"}
		}
		return map[string]any{"type": "object", "properties": properties, "required": required}
	}
	l := &daemonInfo{tools: []*mcp.Tool{
		{Name: "memory_store", InputSchema: schema([]any{"content", "hints"}, "content", "hints", "tags")},
		{Name: "memory_feedback", InputSchema: schema([]any{"session_key"}, "session_key", "ratings")},
		{Name: "session_bypass", InputSchema: schema([]any{"sessionKey"}, "sessionKey")},
		{Name: "session_search", InputSchema: schema(nil, "session_key")},
		{Name: "memory_search", InputSchema: schema([]any{"query"}, "query")},
	}}
	for _, tc := range []struct{ name, raw, key, want string }{
		{"memory_store", `{"content":"Robin prefers tabs over spaces in all of the Go files"}`, "k", `{"content":"Robin prefers tabs over spaces in all of the Go files","hints":["Robin prefers tabs over spaces in all of"]}`},
		{"memory_store", `{"content":"x","tags":"a, b,"}`, "k", `{"content":"x","hints":["a","b"],"tags":"a, b,"}`},
		{"memory_store", `{"content":"x", "hints":["mine"]}`, "k", `{"content":"x", "hints":["mine"]}`},
		{"memory_feedback", `{"session_key":"guessed","ratings":{"m":1}}`, "k", `{"ratings":{"m":1},"session_key":"k"}`},
		{"memory_feedback", `{"session_key":"given","ratings":{"m":1}}`, "", `{"session_key":"given","ratings":{"m":1}}`},
		{"session_bypass", `{}`, "k", `{"sessionKey":"k"}`},
		{"session_bypass", ``, "k", `{"sessionKey":"k"}`},
		{"session_bypass", `{"sessionKey":"other"}`, "k", `{"sessionKey":"other"}`},
		{"session_search", `{"x": 1}`, "k", `{"x": 1}`},
		{"memory_search", `{"query":"x"}`, "k", `{"query":"x"}`},
		{"memory_feedback", `[1]`, "k", `[1]`},
		{"memory_feedback", `null`, "k", `{"session_key":"k"}`},
		{"unheard_of", `{"a":1}`, "k", `{"a":1}`},
	} {
		known, _ := toolNamed(tc.name)
		v, err := known.read(json.RawMessage(tc.raw))
		if err != nil {
			v = values{}
		}
		if got := string(l.fill(toolCall{who: memory.Session{Key: tc.key}, name: tc.name, raw: json.RawMessage(tc.raw),
			values: v}, scope{})); got != tc.want {
			t.Errorf("%s %s: %s, want %s", tc.name, tc.raw, got, tc.want)
		}
	}
}

// Feedback reaches a daemon under the session's own key, by either way.
func TestFeedbackKey(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	c := connect(t, newServer(t, newStore(t), withDaemon(t, d)), robin)
	for deadline := time.Now().Add(patience); len(d.FeedbackGiven()) == 0; {
		c.call("memory_feedback", sample["memory_feedback"])
		if time.Now().After(deadline) {
			t.Fatal("no feedback reached the daemon")
		}
	}
	if got := d.FeedbackGiven()[0]; got.Key != "acp-1" {
		t.Errorf("under %q", got.Key)
	}
}

// What a session may not see it cannot rate.
func TestFeedbackKeepsToTheProject(t *testing.T) {
	store := storeOf(t, false)
	s := newServer(t, store)
	var stored struct{ ID string }
	connect(t, s, robin).ok("memory_store", map[string]any{"content": "Herons wade."}, &stored)
	other := connect(t, s, func() memory.Session {
		return memory.Session{Key: "acp-2", Cwd: "/src/teal",
			Project: "/src/teal"}
	})
	var answer struct {
		Recorded int
		Unknown  []string
	}
	rate := map[string]any{"session_key": "k", "ratings": map[string]any{stored.ID: -1}}
	if other.ok("memory_feedback", rate, &answer); answer.Recorded != 0 || len(answer.Unknown) != 1 {
		t.Errorf("from another project: %+v", answer)
	}
	if connect(t, s, robin).ok("memory_feedback", rate, &answer); answer.Recorded != 1 || len(answer.Unknown) != 0 {
		t.Errorf("from its own: %+v", answer)
	}
}
