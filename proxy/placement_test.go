package proxy

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// systemAgent is an echo that takes a system prompt, and forks.
func systemAgent() agent {
	plain := echo()
	return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		switch method(f) {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentInfo":{"name":"echo","version":"1"},`+
				`"agentCapabilities":{"loadSession":true,`+
				`"sessionCapabilities":{"fork":{},"systemPrompt":{"mode":{"override":{}}}}}}}`, f["id"])
		case "session/fork":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"forked"}}`, f["id"])
		default:
			plain(f, line, say)
		}
	}
}

// bySystem puts identity into the system prompt.
func bySystem(o *Options) {
	o.Placement = func(string) Placement { return Placement{System: true, Meta: true} }
}

// openSettled opens a connection on which the database is open: a session/new waits for it only a moment.
func (c *connection) openSettled() {
	c.t.Helper()
	c.open()
	<-c.relay.database.opened
}

// Identity is in the system prompt of a new session, the memories are in its first prompt, and the ledger has both.
func TestSystemPrompt(t *testing.T) {
	w := newWorld(t)
	c := w.start(newSource(), systemAgent(), bySystem)
	c.openSettled()
	c.call(1, "session/new", cwd)
	made := c.got(`"session/new"`)[0]
	var request struct {
		Params struct {
			SystemPrompt struct {
				Mode    string
				Content []map[string]string
			}
		}
	}
	if err := json.Unmarshal([]byte(made), &request); err != nil {
		t.Fatal(err)
	}
	given := request.Params.SystemPrompt
	if given.Mode != "append" || len(given.Content) != 1 || len(given.Content[0]) != 2 ||
		!strings.Contains(given.Content[0]["text"], "says the file") {
		t.Fatalf("the system prompt: %+v", given)
	}
	c.prompt(2, "s1", "hello")
	b := c.blocks(0)
	if len(b) != 2 || strings.Contains(b[0], "Alto") || !strings.Contains(b[0], "Robin prefers tabs.") {
		t.Errorf("first prompt: %q", b)
	}
	c.prompt(3, "s1", "and then")
	if b := c.blocks(1); len(b) != 1 {
		t.Errorf("second prompt: %q", b)
	}
	w.await("s1", correlation.Done)
	var kinds []string
	all, err := w.store.Injections(t.Context(), w.session("echo", "s1").ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range all {
		kinds = append(kinds, in.Kind+" "+string(in.Outcome))
		if in.Kind == session.KindSystem && in.Text != given.Content[0]["text"] {
			t.Errorf("the ledger has %q", in.Text)
		}
	}
	if got := strings.Join(kinds, ", "); got != "memories kept, system kept" {
		t.Errorf("ledger: %s", got)
	}
}

// Where identity cannot go into the system prompt, it goes with the first prompt, and the request is the client's.
func TestSystemPromptNotTaken(t *testing.T) {
	tests := []struct {
		name  string
		agent agent
		at    Placement
		extra string
	}{
		{"not configured", systemAgent(), Placement{}, ``},
		{"not advertised", echo(), Placement{System: true}, ``},
		{"a form that nobody knows", systemAgent(), Placement{System: true, Meta: true}, `,"systemPrompt":"be brief"`},
		{"a form that the harness may drop ours for", systemAgent(), Placement{System: true}, `,"_meta":{"systemPrompt":{"append":"be brief"}}`},
		{"not wanted", systemAgent(), Placement{System: true}, `,"_meta":{"signet.ai":{"inject":false}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newWorld(t).start(newSource(), tt.agent,
				func(o *Options) { o.Placement = func(string) Placement { return tt.at } })
			c.openSettled()
			params := strings.TrimSuffix(cwd, "}") + tt.extra + "}"
			c.call(1, "session/new", params)
			if got := c.got(`"session/new"`); !strings.Contains(got[0], `"params":`+params) {
				t.Errorf("got %s", got)
			}
			c.prompt(2, "s1", "hello")
			if b := c.blocks(0); (len(b) == 2 &&
				strings.Contains(b[0], "Alto")) == strings.Contains(tt.extra, "false") {
				t.Errorf("first prompt: %q", b)
			}
		})
	}
}

// The session is opened in one process and prompted in another; what its system prompt says is not said again.
func TestSystemPromptInAnotherProcess(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	c := w.start(mem, systemAgent(), bySystem)
	c.openSettled()
	c.call(1, "session/new", cwd)
	w.awaitFetch(c, "s1")
	c.close()

	c = w.start(mem, systemAgent(), bySystem)
	c.openSettled()
	c.call(1, "session/load", loadParams("s1"))
	c.prompt(2, "s1", "hello")
	if b := c.blocks(0); len(b) != 2 || strings.Contains(b[0], "Alto") || !strings.Contains(b[0], "tabs") {
		t.Errorf("first prompt: %q", b)
	}
	if loads := c.got(`"session/load"`); strings.Contains(loads[0], "systemPrompt") {
		t.Errorf("got %s", loads)
	}
	if n := mem.started(); n != 1 {
		t.Errorf("%d session-starts", n)
	}
}

// The load of a session fails and another one takes its place: it has a system prompt of its own, and the context that
// was not used.
func TestSystemPromptOfSuccessor(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	c := w.start(mem, systemAgent(), bySystem)
	c.openSettled()
	c.call(1, "session/new", cwd)
	w.awaitFetch(c, "s1")
	c.close()

	plain := systemAgent()
	c = w.start(mem, func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		switch method(f) {
		case "session/load":
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"gone"}}`, f["id"])
		case "session/new":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s2"}}`, f["id"])
		default:
			plain(f, line, say)
		}
	}, bySystem)
	c.call(0, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"acpx","version":"0.19.1"}}`)
	<-c.relay.database.opened
	c.call(1, "session/load", loadParams("s1"))
	c.call(2, "session/new", cwd)
	c.prompt(3, "s2", "hello")
	if got := c.got(`"session/new"`); !strings.Contains(got[0], "says the file") {
		t.Errorf("got %s", got)
	}
	if b := c.blocks(0); len(b) != 2 || strings.Contains(b[0], "Alto") || !strings.Contains(b[0], "tabs") {
		t.Errorf("first prompt: %q", b)
	}
	c.close()
	if n := mem.started(); n != 1 {
		t.Errorf("%d session-starts", n)
	}
	if s := w.session("echo", "s2"); s.State != correlation.Done || s.ContinueOf == 0 {
		t.Errorf("the session: %+v", s)
	}
}

// A fork's harness may start without its parent's system prompt: it gets the same again. Of a session made the prompt
// way it gets none.
func TestSystemPromptOfFork(t *testing.T) {
	for _, system := range []bool{true, false} {
		w := newWorld(t)
		c := w.start(newSource(), systemAgent(),
			func(o *Options) { o.Placement = func(string) Placement { return Placement{System: system} } })
		c.openSettled()
		c.call(1, "session/new", cwd)
		c.prompt(2, "s1", "hello")
		w.await("s1", correlation.Done)
		c.relay.o.Placement = func(string) Placement { return Placement{System: true} }
		c.call(3, "session/fork", loadParams("s1"))
		c.prompt(4, "forked", "hello")
		if got := c.got(`"session/fork"`); strings.Contains(got[0], "says the file") != system {
			t.Errorf("system %v: got %s", system, got)
		}
		if b := c.blocks(1); len(b) != 1 {
			t.Errorf("system %v: the fork's prompt: %q", system, b)
		}
		c.close()
	}
}

// Every form of a client's own system prompt keeps what it says, and gets ours behind it.
func TestAppendSystem(t *testing.T) {
	const block = `{"type":"text","text":"We\u0026\"I\""}`
	tests := []struct{ name, in, want string }{
		{"none", `{"cwd":"/"}`, `{"cwd":"/","systemPrompt":{"mode":"append","content":[` + block + `]}}`},
		{"null", `{"systemPrompt":null}`, `{"systemPrompt":{"mode":"append","content":[` + block + `]}}`},
		{"append", `{"systemPrompt":{"content":[{"type":"text","text":"\u00e9"}],"mode":"append"}}`, `{"systemPrompt":{"content":[{"type":"text","text":"\u00e9"},` + block + `],"mode":"append"}}`},
		{"override", `{"systemPrompt":{"mode":"override","content":[1.0]}}`, `{"systemPrompt":{"mode":"override","content":[1.0,` + block + `]}}`},
		{"both forms", `{"_meta":{"systemPrompt":"x"},"systemPrompt":{"mode":"append","content":[]}}`, `{"_meta":{"systemPrompt":"x"},"systemPrompt":{"mode":"append","content":[` + block + `]}}`},
		{"meta text", `{"_meta":{"systemPrompt":"be\u0020brief\""}}`, `{"_meta":{"systemPrompt":"be\u0020brief\"\n\nWe\u0026\"I\""}}`},
		{"meta append", `{"_meta":{"systemPrompt":{"append":"x","y":1.0}}}`, `{"_meta":{"systemPrompt":{"append":"x\n\nWe\u0026\"I\"","y":1.0}}}`},
		{"meta object", `{"_meta":{"systemPrompt":{"excludeDynamicSections":true}}}`, `{"_meta":{"systemPrompt":{"excludeDynamicSections":true,"append":"We\u0026\"I\""}}}`},
		{"meta empty", `{"_meta":{"systemPrompt":""}}`, `{"_meta":{"systemPrompt":""},"systemPrompt":{"mode":"append","content":[` + block + `]}}`},
		{"meta list", `{"_meta":{"systemPrompt":["x"]}}`, ``},
		{"meta append no text", `{"_meta":{"systemPrompt":{"append":1}}}`, ``},
		{"no list", `{"systemPrompt":{"mode":"append","content":"x"}}`, ``},
		{"text", `{"systemPrompt":"x"}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const head, tail = `{"id":1,"params":`, `,"method":"session/new"}` + "\n"
			got, ok := appendSystem([]byte(head+tt.in+tail), `We&"I"`, true)
			if want := head + tt.want + tail; ok != (tt.want != "") || ok &&
				strings.ReplaceAll(string(got), `\"I\"`, `"I"`) != strings.ReplaceAll(want, `\"I\"`, `"I"`) {
				t.Errorf("got %s, %v\nwant %s", got, ok, want)
			}
			if ok && !json.Valid(got) {
				t.Errorf("not valid: %s", got)
			}
		})
	}
	if _, ok := appendSystem([]byte(`{"params":{"_meta":{"systemPrompt":"x"}}}`), "y", false); ok {
		t.Error("ours goes beside a form that the harness may not read with it")
	}
}

// A session knows whose child it is; one that the ledger knows stays whose it was.
func TestParentOfSession(t *testing.T) {
	w := newWorld(t)
	mem := newSource()
	for _, parent := range []string{"acp-outer", "acp-another"} {
		c := w.start(mem, echo(), func(o *Options) {
			open := o.Open
			o.Open = func(ctx context.Context) (*Backend, error) {
				b, err := open(ctx)
				if b != nil {
					b.Parent = func(_ context.Context, cwd string) string { return parent + cwd }
				}
				return b, err
			}
		})
		c.open()
		if parent == "acp-outer" {
			c.call(1, "session/new", cwd)
		} else {
			c.call(1, "session/load", loadParams("s1"))
		}
		c.prompt(2, "s1", "hello")
		c.close()
		if s := w.session("echo", "s1"); s.ParentKey != "acp-outer/tmp/x" {
			t.Errorf("the parent is %q", s.ParentKey)
		}
	}
	if mem.starts[0].ParentKey != "acp-outer/tmp/x" {
		t.Errorf("the source was told %+v", mem.starts[0])
	}
}

// loadParams are the parameters of a request that opens a session by its id.
func loadParams(id string) string { return strings.TrimSuffix(cwd, "}") + `,"sessionId":"` + id + `"}` }
