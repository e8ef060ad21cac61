package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"testing"
)

var devin = Compat{
	ClientInfo: json.RawMessage(`{"name":"windsurf","version":"1.110.1"}`),
	ClientMeta: json.RawMessage(`{"cognition.ai/requestDiagnostics":true}`),
	Answers:    []string{"_cognition.ai/request_diagnostics"},
}

// acpx's initialize and session/new are worded as acpx words them for this harness; those of any other client, and
// whatever else, are left alone.
func TestCompat(t *testing.T) {
	const (
		as      = `,"clientInfo":{"name":"acpx","version":"0.19.1"}`
		worded  = `,"clientInfo":{"name":"windsurf","version":"1.110.1"}`
		meta    = `"cognition.ai/requestDiagnostics"`
		sources = `"settingSources":["project","local"]`
		old     = `{"cwd":"/x"` + `,"clientInfo":{"name":"acpx","version":"0.10.9"}}`
		zed     = `{"cwd":"/x","clientInfo":{"name":"zed","version":"1.0"}}`
	)
	for _, tt := range []struct{ name, init, worded, opens, method, want string }{
		{"acpx", `{"clientCapabilities":{"terminal":true}` + as + `}`,
			`{"clientCapabilities":{"terminal":true,"_meta":{` + meta + `:true}}` + worded + `}`,
			`{"cwd":"/x"}`, methodNew, `{"cwd":"/x","_meta":{"claudeCode":{"options":{` + sources + `}}}}`},
		{"with _meta", `{"clientCapabilities":{"_meta":{"x":1.0}}` + as + `}`,
			`{"clientCapabilities":{"_meta":{"x":1.0,` + meta + `:true}}` + worded + `}`,
			`{"_meta":{"claudeCode":{"options":{"model":"m"}},"systemPrompt":"x"}}`, methodNew,
			`{"_meta":{"claudeCode":{"options":{"model":"m",` + sources + `}},"systemPrompt":"x"}}`},
		{"said already", `{"clientCapabilities":{"_meta":{` + meta + `:false}}` + as + `}`,
			`{"clientCapabilities":{"_meta":{` + meta + `:false}}` + worded + `}`,
			`{"_meta":{"claudeCode":{"options":{"settingSources":["user"]}}}}`, methodNew, ``},
		{"a load", `{"clientCapabilities":{"_meta":{` + meta + `:0}}` + as + `}`,
			`{"clientCapabilities":{"_meta":{` + meta + `:0}}` + worded + `}`, `{"cwd":"/x"}`, methodLoad, ``},
		{"another client", zed, ``, `{"cwd":"/x"}`, methodNew, ``},
		{"nobody", `{"protocolVersion":1}`, ``, `{"cwd":"/x"}`, methodNew, ``},
		{"an older acpx", old, old[:len(`{"cwd":"/x"`)] + worded + `,"clientCapabilities":{"_meta":{` + meta + `:true}}}`,
			`{"cwd":"/x"}`, methodNew, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := newQuiet(t, func(o *Options) {
				o.Compat = devin
				o.Compat.SettingSources = []string{"project", "local"}
			})
			request := `{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`
			got := q.sends(t, fmt.Sprintf(request, methodInitialize, tt.init))
			if want := fmt.Sprintf(request, methodInitialize, cmp.Or(tt.worded, tt.init)); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
			got = q.sends(t, fmt.Sprintf(request, tt.method, tt.opens))
			if want := fmt.Sprintf(request, tt.method, cmp.Or(tt.want, tt.opens)); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

// acpx refuses a request that it answers where it knows the harness: the refusal becomes that answer, once. Whatever
// else is said passes.
func TestRefusalAnsweredForAcpx(t *testing.T) {
	const refused = `{"jsonrpc":"2.0","id":"d\u0031","error":{"code":-32601,"message":"no"}}`
	for _, tt := range []struct{ name, client, method, reply, want string }{
		{"refused", "acpx", devin.Answers[0], refused, `{"jsonrpc":"2.0","result":{},"id":"d\u0031"}`},
		{"answered", "acpx", devin.Answers[0], `{"jsonrpc":"2.0","id":"d1","result":{"x":1.0}}`, ``},
		{"another request", "acpx", "_other", refused, ``},
		{"another client", "zed", devin.Answers[0], refused, ``},
	} {
		q := newQuiet(t, func(o *Options) { o.Compat = devin })
		q.sends(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"`+tt.client+`"}}}`)
		q.says(t, `{"jsonrpc":"2.0","id":"d1","method":"`+tt.method+`","params":{}}`)
		if got := q.sends(t, tt.reply, tt.reply); got != cmp.Or(tt.want, tt.reply)+"\n"+tt.reply {
			t.Errorf("%s: got %s", tt.name, got)
		}
	}
}
