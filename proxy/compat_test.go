package proxy

import (
	"encoding/json"
	"strings"
	"testing"
)

var devin = Compat{
	ClientInfo: json.RawMessage(`{"name":"windsurf","version":"1.110.1"}`),
	ClientMeta: json.RawMessage(`{"cognition.ai/requestDiagnostics":true}`),
	Answers:    []string{"_cognition.ai/request_diagnostics"},
}

const asAcpx = `"clientInfo":{"name":"acpx","version":"0.19.1"}`

// acpx's initialize is worded as acpx words it for this harness; that of any other client is left alone.
func TestGreeting(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"acpx", `{"protocolVersion":1, "clientCapabilities":{"terminal":true},` + asAcpx + `}`,
			`{"protocolVersion":1, "clientCapabilities":{"terminal":true,"_meta":{"cognition.ai/requestDiagnostics":true}},"clientInfo":{"name":"windsurf","version":"1.110.1"}}`},
		{"with _meta", `{"clientCapabilities":{"_meta":{"x":1.0}},` + asAcpx + `}`,
			`{"clientCapabilities":{"_meta":{"x":1.0,"cognition.ai/requestDiagnostics":true}},"clientInfo":{"name":"windsurf","version":"1.110.1"}}`},
		{"said already", `{"clientCapabilities":{"_meta":{"cognition.ai/requestDiagnostics":false}},` + asAcpx + `}`,
			`{"clientCapabilities":{"_meta":{"cognition.ai/requestDiagnostics":false}},"clientInfo":{"name":"windsurf","version":"1.110.1"}}`},
		{"another client", `{"clientInfo":{"name":"zed","version":"1"}}`, ``},
		{"nobody", `{"protocolVersion":1}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.in
			}
			c := newWorld(t).start(newSource(), echo(), func(o *Options) { o.Compat = devin })
			c.call(0, "initialize", tt.in)
			if got := c.got("initialize"); !strings.Contains(got[0], `"params":`+tt.want+`}`) {
				t.Errorf("got %s\nwant %s", got[0], tt.want)
			}
		})
	}
}

// Claude gets the settings that acpx gives it, from acpx and where it gave none.
func TestSettingSources(t *testing.T) {
	const sources = `"settingSources":["project","local"]`
	tests := []struct{ name, client, in, want string }{
		{"none", asAcpx, `{"cwd":"/tmp/x"}`, `{"cwd":"/tmp/x","_meta":{"claudeCode":{"options":{` + sources + `}}}}`},
		{"other options", asAcpx,
			`{"cwd":"/tmp/x","_meta":{"claudeCode":{"options":{"model":"m"}},"systemPrompt":"x"}}`,
			`{"cwd":"/tmp/x","_meta":{"claudeCode":{"options":{"model":"m",` + sources + `}},"systemPrompt":"x"}}`},
		{"acpx's own", asAcpx, `{"cwd":"/tmp/x","_meta":{"claudeCode":{"options":{"settingSources":["user"]}}}}`, ``},
		{"acpx before that", `"clientInfo":{"name":"acpx","version":"0.7.0"}`, `{"cwd":"/tmp/x"}`, ``},
		{"another client", `"clientInfo":{"name":"zed","version":"1.0"}`, `{"cwd":"/tmp/x"}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.in
			}
			c := newWorld(t).start(newSource(), echo(), func(o *Options) {
				o.Compat.SettingSources = []string{"project",
					"local"}
			})
			c.call(0, "initialize", `{"protocolVersion":1,`+tt.client+`}`)
			c.call(1, "session/new", tt.in)
			if got := c.got("session/new"); !strings.Contains(got[0], `"params":`+tt.want+`}`) {
				t.Errorf("got %s\nwant %s", got[0], tt.want)
			}
			c.call(2, "session/load", `{"cwd":"/tmp/x","sessionId":"s1"}`)
			if got := c.got("session/load"); !strings.Contains(got[0], `"params":{"cwd":"/tmp/x","sessionId":"s1"}`) {
				t.Errorf("acpx says nothing of it on a load, got %s", got[0])
			}
		})
	}
}

// acpx refuses a request that it answers where it knows the harness: the refusal becomes that answer. Whatever else is
// said passes.
func TestRefusalAnsweredForAcpx(t *testing.T) {
	tests := []struct{ name, client, method, reply, want string }{
		{"refused", "acpx", devin.Answers[0], `{"jsonrpc":"2.0","id":"d\u0031","error":{"code":-32601,"message":"no"}}`, `{"jsonrpc":"2.0","result":{},"id":"d\u0031"}`},
		{"answered", "acpx", devin.Answers[0], `{"jsonrpc":"2.0","id":"d1","result":{"x":1.0}}`, ``},
		{"another request", "acpx", "_other", `{"jsonrpc":"2.0","id":"d1","error":{"code":-32601,"message":"no"}}`, ``},
		{"another client", "zed", devin.Answers[0], `{"jsonrpc":"2.0","id":"d1","error":{"code":-32601,"message":"no"}}`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plain := echo()
			c := newWorld(t).start(newSource(), func(f map[string]json.RawMessage, line []byte,
				say func(string, ...any)) {
				if method(f) == "session/set_mode" {
					say(`{"jsonrpc":"2.0","id":"d1","method":%q,"params":{}}`, tt.method)
				}
				plain(f, line, say)
			}, func(o *Options) { o.Compat = devin })
			c.call(0, "initialize", `{"protocolVersion":1,"clientInfo":{"name":"`+tt.client+`","version":"0.19.1"}}`)
			c.call(1, "session/set_mode", `{}`)
			for range 2 { // one answer for one question
				c.send("%s", tt.reply)
			}
			c.call(2, "session/set_mode", `{}`)
			if tt.want == "" {
				tt.want = tt.reply
			}
			var got []string
			for _, line := range c.got(`"id":"d`) {
				got = append(got, strings.TrimSpace(line))
			}
			if len(got) != 2 || got[0] != tt.want || got[1] != tt.reply {
				t.Errorf("got %q\nwant %q", got, []string{tt.want, tt.reply})
			}
		})
	}
}
