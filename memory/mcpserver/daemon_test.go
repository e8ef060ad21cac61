package mcpserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// sample are good arguments for every tool.
var sample = map[string]any{
	"memory_search":   map[string]any{"query": "heron"},
	"memory_store":    map[string]any{"content": "The heron is grey."},
	"memory_get":      map[string]any{"id": "m"},
	"memory_list":     map[string]any{},
	"memory_modify":   map[string]any{"id": "m", "content": "The heron is white.", "reason": "seen"},
	"memory_forget":   map[string]any{"id": "m", "reason": "flown"},
	"memory_feedback": map[string]any{"session_key": "k", "ratings": map[string]any{"m": 1}},
	"agent_peers":     map[string]any{"anything": []any{1.0, "x"}},
}

// A daemon that other processes know not to answer is not asked: a tool's call would wait for it.
func TestLeftAlone(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	file := filepath.Join(t.TempDir(), "daemon.json")
	stamp := fmt.Sprintf(`{%q:{"failed":%d,"times":1}}`, d.URL(), time.Now().UnixMilli())
	if err := os.WriteFile(file, []byte(stamp), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, newStore(t), func(o *Options) {
		var err error
		o.Daemon, err = signet.New(signet.Options{URL: d.URL(), Configured: true, BreakerFile: file})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.Daemon.Close)
	})
	var list struct{ Memories []any }
	connect(t, s, robin).ok("memory_list", map[string]any{}, &list)
	if asked := d.Requests(); len(asked) != 0 {
		t.Errorf("it was asked: %+v", asked)
	}
}

// With a daemon every tool of its is there, and every call is its to answer.
func TestBridge(t *testing.T) {
	for _, generation := range []daemontest.Generation{daemontest.Older, daemontest.Newer} {
		t.Run(generation.Version(), func(t *testing.T) {
			stand := newStandIn()
			d := daemontest.Start(t, daemontest.Options{Generation: generation, MCP: stand.handler})
			s := newServer(t, newStore(t), withDaemon(t, d))
			c := connect(t, s, robin)
			c.until("agent_peers", true)
			if diff := cmp.Diff(slices.Concat([]string{"agent_peers"}, ourNames, []string{sessionSearch}), c.names()); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			for name, arguments := range sample {
				var answer struct{ By string }
				if c.ok(name, arguments, &answer); answer.By != "daemon" {
					t.Errorf("%s: answered by %q", name, answer.By)
				}
			}
			if got := stand.called(); len(got) != len(sample) ||
				!slices.Contains(got, `agent_peers {"anything":[1,"x"]}`) {
				t.Errorf("the daemon was called %q", got)
			}
			if h := stand.headers[0]; h.Get("X-Signet-Harness") != "claude" ||
				h.Get("X-Signet-Workspace") != "/src/heron" {
				t.Errorf("on behalf of %v", h)
			}
			list, err := c.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range list.Tools {
				if readOnly := tool.Annotations != nil &&
					tool.Annotations.ReadOnlyHint; readOnly != slices.Contains([]string{"memory_search", "memory_get",
					"memory_list", "memory_files"}, tool.Name) {
					t.Errorf("%s: %+v", tool.Name, tool.Annotations)
				}
			}
		})
	}
}

// What must not be stored does not go to the daemon either, and bad arguments do not reach it.
func TestBridgeConceals(t *testing.T) {
	stand := newStandIn()
	d := daemontest.Start(t, daemontest.Options{MCP: stand.handler})
	c := connect(t, newServer(t, newStore(t), withDaemon(t, d)), robin)
	c.until("agent_peers", true)
	c.call("memory_store", map[string]any{"content": "Robin rows. <private>secretly</private>", "pinned": true})
	c.call("memory_modify", map[string]any{"id": "m", "content": "<private>all</private>", "reason": "r"})
	c.call("memory_search", map[string]any{"limit": 1})
	c.call("agent_peers", map[string]any{"x": strings.Repeat("y", maxForward)})
	if diff := cmp.Diff([]string{`memory_store {"content":"Robin rows.","pinned":true}`}, stand.called()); diff != "" {
		t.Errorf("the daemon got (-want +got):\n%s", diff)
	}
}

// The daemon stops in the middle of a session and comes back: the tools change hands, and the client is told.
func TestDaemonComesAndGoes(t *testing.T) {
	stand := newStandIn()
	d := daemontest.Start(t, daemontest.Options{MCP: stand.handler})
	d.Stop()
	c := connect(t, newServer(t, newStore(t), withDaemon(t, d)), robin)
	if diff := cmp.Diff(ourNames, c.names()); diff != "" {
		t.Errorf("tools without it (-want +got):\n%s", diff)
	}
	var stored struct{ Status, By string }
	if c.ok("memory_store", sample["memory_store"], &stored); stored.Status != "stored" {
		t.Errorf("without it: %+v", stored)
	}
	if err := d.Resume(); err != nil {
		t.Fatal(err)
	}
	c.until("agent_peers", true)
	if c.ok("memory_store", sample["memory_store"], &stored); stored.By != "daemon" {
		t.Errorf("with it: %+v", stored)
	}
	d.Stop()
	stored.Status = ""
	// at once, whether its going was noticed or not
	if c.ok("memory_store", sample["memory_store"], &stored); stored.Status != "updated" {
		t.Errorf("without it again: %+v", stored)
	}
	c.until("agent_peers", false)
	if words, failed := c.call("agent_peers", nil); !failed {
		t.Errorf("a tool that is not there: %s", words)
	}
	if err := d.Resume(); err != nil {
		t.Fatal(err)
	}
	c.until("agent_peers", true)
}

// A daemon that dies in the middle of a call: what reads is answered by the store, what writes is not done twice.
func TestDaemonDiesInACall(t *testing.T) {
	for _, kind := range []daemontest.FaultKind{daemontest.Drop, daemontest.Garbage,
		daemontest.Huge, daemontest.Status} {
		t.Run(string(rune('0'+kind)), func(t *testing.T) {
			stand := newStandIn()
			d := daemontest.Start(t, daemontest.Options{MCP: stand.handler})
			c := connect(t, newServer(t, newStore(t), withDaemon(t, d)), robin)
			c.until("agent_peers", true)
			var answer struct{ By string }
			c.ok("memory_search", sample["memory_search"], &answer)
			d.Fail(daemontest.Fault{Path: "/mcp", Kind: kind})
			var found struct{ Results []embedded.Memory }
			if c.ok("memory_search", sample["memory_search"], &found); found.Results == nil {
				t.Error("the store did not answer")
			}
			d.Heal()
			c.until("agent_peers", true)
			d.Fail(daemontest.Fault{Path: "/mcp", Kind: kind})
			if words, failed := c.call("agent_peers", nil); !failed || len(words) > 500 {
				t.Errorf("a tool of its own: %v, %s", failed, words)
			}
		})
	}
	t.Run("a write", func(t *testing.T) {
		stand := newStandIn()
		d := daemontest.Start(t, daemontest.Options{MCP: stand.handler})
		c := connect(t, newServer(t, newStore(t), withDaemon(t, d), func(o *Options) { o.Poll = time.Hour }), robin)
		c.until("agent_peers", true)
		var answer struct{ By string }
		c.ok("memory_store", sample["memory_store"], &answer)
		d.Fail(daemontest.Fault{Path: "/mcp", Kind: daemontest.DropAfter})
		if words, failed := c.call("memory_modify", sample["memory_modify"]); !failed ||
			!strings.Contains(words, "may or may not be done; check with memory_search") {
			t.Errorf("%v, %s", failed, words)
		}
		if n := len(stand.called()); n > 2 {
			t.Errorf("called %d times", n)
		}
	})
}

// The tools of 0.58.1's and 0.145.8's /mcp call port 3850 whatever port they are served from: the HTTP API answers in
// their place.
func TestWrongPort(t *testing.T) {
	stand := newStandIn()
	stand.answer = func(string) *mcp.CallToolResult {
		r := textResult("Search failed: ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:3850")
		r.IsError = true
		return r
	}
	d := daemontest.Start(t, daemontest.Options{MCP: stand.handler, Generation: daemontest.Middle})
	c := connect(t, newServer(t, newStore(t), withDaemon(t, d)), robin)
	c.until("agent_peers", true)
	allOfTheAPI(t, c, d)
	if words, failed := c.call(sessionSearch, map[string]any{"query": "heron"}); failed || words != `{"results":[]}` {
		t.Errorf("a search of sessions: %v, %s", failed, words)
	}
	if words, failed := c.call("agent_peers", nil); !failed || !strings.Contains(words, "ECONNREFUSED") {
		t.Errorf("its other tools fail as they do: %v, %s", failed, words)
	}
}

// A daemon without /mcp is used by its HTTP API.
func TestNoMCP(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	c := connect(t, newServer(t, newStore(t), withDaemon(t, d)), robin)
	for deadline := time.Now().Add(patience); len(d.Memories()) == 0; {
		c.call("memory_store", map[string]any{"content": "The teal is small."})
		if time.Now().After(deadline) {
			t.Fatal("nothing reached the daemon")
		}
	}
	allOfTheAPI(t, c, d)
}

// allOfTheAPI drives every memory tool, and looks at what the daemon has of it.
func allOfTheAPI(t *testing.T, c *client, d *daemontest.Daemon) {
	t.Helper()
	var stored struct{ ID, Content string }
	c.ok("memory_store", map[string]any{"content": "The bittern booms.", "type": "fact", "tags": "birds",
		"importance": 0.5}, &stored)
	all := d.Memories()
	if m := all[len(all)-1]; m.ID != stored.ID || m.Content != "The bittern booms." ||
		m.Tags != "birds" || m.Importance != 0.5 {
		t.Errorf("the daemon has %+v", m)
	}
	var found struct{ Results, Memories []struct{ ID string } }
	if c.ok("memory_search", map[string]any{"query": "bittern", "min_score": 0.1}, &found); len(found.Results) != 1 ||
		found.Results[0].ID != stored.ID {
		t.Errorf("found %+v", found)
	}
	if c.ok("memory_list", map[string]any{"limit": 1}, &found); len(found.Memories) != 1 {
		t.Errorf("listed %+v", found)
	}
	c.ok("memory_modify", map[string]any{"id": stored.ID, "content": "The bittern is silent.",
		"reason": "listened"}, &struct{}{})
	if c.ok("memory_get", map[string]any{"id": stored.ID}, &stored); stored.Content != "The bittern is silent." {
		t.Errorf("got %+v", stored)
	}
	c.ok("memory_feedback", map[string]any{"ratings": map[string]any{stored.ID: 1}}, &struct{}{})
	if given := d.FeedbackGiven(); given[len(given)-1].Key != "acp-1" {
		t.Errorf("rated under %+v", given)
	}
	c.ok("memory_forget", map[string]any{"id": stored.ID, "reason": "flown"}, &struct{}{})
	if words, failed := c.call("memory_get", map[string]any{"id": stored.ID}); !failed ||
		!strings.Contains(words, "404") {
		t.Errorf("forgotten: %v, %s", failed, words)
	}
}

// Where another daemon listens on 3850, the tools of an older one on another port are never called: they would go
// there.
func TestStrays(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:"+defaultPort)
	if err != nil {
		t.Skipf("the port is taken: %v", err)
	}
	defer l.Close()
	stand := newStandIn()
	d := daemontest.Start(t, daemontest.Options{MCP: stand.handler, Generation: daemontest.Middle})
	c := connect(t, newServer(t, newStore(t), withDaemon(t, d)), robin)
	c.until("agent_peers", true)
	allOfTheAPI(t, c, d)
	if words, failed := c.call(sessionSearch, map[string]any{"query": "heron"}); failed || words != `{"results":[]}` {
		t.Errorf("a search of sessions: %v, %s", failed, words)
	}
	if got := stand.called(); len(got) != 0 {
		t.Errorf("called %q", got)
	}
}

// A daemon that nobody named and that serves another folder is asked nothing.
func TestNotOurs(t *testing.T) {
	stand := newStandIn()
	d := daemontest.Start(t, daemontest.Options{MCP: stand.handler, AgentsDir: "/home/other/.agents"})
	daemon, err := signet.New(signet.Options{URL: d.URL(), SignetPath: "/home/robin/.agents"})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, newServer(t, newStore(t), func(o *Options) { o.Daemon = daemon }), robin)
	var stored struct{ Status string }
	for range 3 {
		c.ok("memory_store", sample["memory_store"], &stored)
	}
	if got := d.Requests("/mcp"); len(got) != 0 || len(d.Memories()) != 0 {
		t.Errorf("it got %d calls and %d memories", len(got), len(d.Memories()))
	}
}

// Where only a daemon may answer and none does, the agent is told, and the tools stay.
func TestOnlyADaemon(t *testing.T) {
	d := daemontest.Start(t, daemontest.Options{})
	d.Stop()
	c := connect(t, newServer(t, nil, withDaemon(t, d)), func() memory.Session { return memory.Session{} })
	if diff := cmp.Diff(ourNames, c.names()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if words, failed := c.call("memory_list", nil); !failed || !strings.Contains(words, "start it and call again") {
		t.Errorf("%v, %s", failed, words)
	}
}
