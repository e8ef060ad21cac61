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
	o.Traits = func(string) session.Traits { return session.Traits{InSystem: true, MetaSystem: true} }
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

// takesSystem is a quiet relay in front of a harness that takes a system prompt.
func takesSystem(t *testing.T, at session.Traits) *quiet {
	q := newQuiet(t, remembering(newSource()), func(o *Options) { o.Traits = func(string) session.Traits { return at } })
	q.agent.Store(&agentHello{version: version1, systemPrompt: true, traits: at})
	return q
}

// Where identity cannot go into the system prompt, it goes with the first prompt, and the request is the client's.
func TestSystemPromptNotTaken(t *testing.T) {
	for _, tt := range []struct {
		name  string
		takes bool
		at    session.Traits
		extra string
	}{
		{"not configured", true, session.Traits{}, ``},
		{"not advertised", false, session.Traits{InSystem: true}, ``},
		{"a form that nobody knows", true, session.Traits{InSystem: true, MetaSystem: true}, `,"systemPrompt":"be brief"`},
		{"a form that the harness may drop ours for", true, session.Traits{InSystem: true}, `,"_meta":{"systemPrompt":{"append":"be brief"}}`},
		{"not wanted", true, session.Traits{InSystem: true}, `,"_meta":{"signet.ai":{"inject":false}}`},
	} {
		q := takesSystem(t, tt.at)
		q.agent.Store(&agentHello{version: version1, systemPrompt: tt.takes, traits: tt.at})
		line := strings.Replace(strings.TrimSpace(upNew), `[]}`, `[]`+tt.extra+`}`, 1)
		if got := q.sends(t, line); got != line {
			t.Errorf("%s: got %s", tt.name, got)
		}
		q.says(t, strings.Replace(downNew, "s1", "s2", 1))
		prompt := q.sends(t, strings.Replace(upHello, "s1", "s2", 1))
		if strings.Contains(prompt, "You are Alto") == (tt.name == "not wanted") {
			t.Errorf("%s: first prompt: %s", tt.name, prompt)
		}
	}
}

// A fork's harness may start without its parent's system prompt: it gets the same again. Of a session made the prompt
// way it gets none.
func TestSystemPromptOfFork(t *testing.T) {
	for kind, want := range map[string]bool{session.KindSystem: true, session.KindContext: false} {
		q := takesSystem(t, session.Traits{InSystem: true})
		q.talk.Do(func(c *session.Connection) {
			c.Placed(q.one, &session.Injection{Injection: correlation.Injection{Kind: kind, Text: "You are Bass."}})
		})
		q.database.backend.Store(nil) // a ledger that does not know the parent would say that it was forgotten
		got := q.sends(t, `{"jsonrpc":"2.0","id":3,"method":"session/fork","params":`+loadParams("s1")+`}`)
		if strings.Contains(got, "You are Bass.") != want {
			t.Errorf("%s: got %s", kind, got)
		}
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

// A new session knows whose child it is. What the ledger knows of others package session keeps.
func TestParentOfSession(t *testing.T) {
	q := armed(t, nil, func(o *Options) {
		o.Open = func(context.Context) (*Backend, error) {
			return &Backend{Ledger: &shelf{}, Memory: newSource(), Parent: func(_ context.Context, cwd string) string { return "acp-outer" + cwd }}, nil
		}
	})
	q.settle(t, "s2")
	who := q.session("s2").Known().Who
	if who.ParentKey != "acp-outer/tmp/x" {
		t.Errorf("the parent is %q", who.ParentKey)
	}
}

// loadParams are the parameters of a request that opens a session by its id.
func loadParams(id string) string { return strings.TrimSuffix(cwd, "}") + `,"sessionId":"` + id + `"}` }
