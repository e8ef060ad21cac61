package proxy

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// Every shape of mcpServers (docs/facts/acp.md, "mcpServers") gets our server in its place, or is left alone; every
// other byte stays.
func TestMCPServer(t *testing.T) {
	const atTheEnd = "of params"
	const ours = `{"name":"signet","command":"/bin/x","args":["mcp"],"env":[]}`
	theirs := `{"name":"lin","command":"/bin/lin","args":["--x \u00e9"],"env":[{"name":"K","value":"V"}]}`
	for _, tc := range []struct{ name, in, want string }{
		{"empty", `"mcpServers":[]`, `"mcpServers":[` + ours + `]`},
		{"spaces", `"mcpServers" : [ ] `, `"mcpServers" : [ ` + ours + `] `},
		{"stdio", `"mcpServers":[` + theirs + `]`, `"mcpServers":[` + theirs + `,` + ours + `]`},
		{"http and sse", `"mcpServers":[{"type":"http","name":"a","url":"u","headers":[]},{"type":"sse","name":"b","url":"u","headers":[]} ]`,
			`"mcpServers":[{"type":"http","name":"a","url":"u","headers":[]},{"type":"sse","name":"b","url":"u","headers":[]} ,` + ours + `]`},
		{"of a type that nobody knows", `"mcpServers":[{"type":"websocket","name":"w","n":1.0}]`, `"mcpServers":[{"type":"websocket","name":"w","n":1.0},` + ours + `]`},
		{"null", `"mcpServers":null`, `"mcpServers":[` + ours + `]`},
		{"an escaped key", `"mcp\u0053ervers":[]`, `"mcp\u0053ervers":[` + ours + `]`},
		{"a key in other case", `"MCPServers":[]`, atTheEnd},
		{"missing", `"x":1`, atTheEnd},
		{"a name like ours", `"mcpServers":[{"name":"Signet"}]`, `"mcpServers":[{"name":"Signet"},` + ours + `]`},
		{"ours already", `"mcpServers":[{"name":"signet","command":"/bin/theirs","args":[],"env":[]}]`, ``},
		{"ours already, escaped", `"mcpServers":[{"n\u0061me":"s\u0069gnet"}]`, ``},
		{"text", `"mcpServers":"none"`, ``},
		{"an object", `"mcpServers":{}`, ``},
		{"a number", `"mcpServers":0`, ``},
		{"not wanted", `"mcpServers":[],"_meta":{"signet.ai":{"inject":false}}`, ``},
	} {
		if tc.want == "" {
			tc.want = tc.in
		}
		var agents []string
		q := newQuiet(t, func(o *Options) {
			o.MCPServer = func(agent string, who func() memory.Session) ([]byte, func()) {
				if who().Cwd != "/tmp/x" {
					t.Errorf("%s: asked by %+v", tc.name, who())
				}
				agents = append(agents, agent)
				return []byte(ours), nil
			}
		})
		q.talk.Do(func(c *session.Connection) { c.AgentGreeted(session.Program{Name: "echo"}, session.Traits{}) })
		for _, method := range []string{methodNew, methodLoad, methodResume, methodFork} {
			line := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"cwd":"/tmp/x","sessionId":"s2", ` + tc.in + `,"é":"\/"}}`
			want := strings.Replace(line, tc.in, tc.want, 1)
			if tc.want == atTheEnd {
				want = strings.TrimSuffix(line, "}}") + `,"mcpServers":[` + ours + `]}}`
			}
			if got := q.sends(t, line); got != want {
				t.Errorf("%s\n got %s\nwant %s", tc.name, got, want)
			}
		}
		if tc.want != tc.in && (len(agents) != 4 || agents[0] != "echo") {
			t.Errorf("%s: asked for %q", tc.name, agents)
		}
	}
}

// A session that was switched off gets no server in a later process either: the ledger is asked first.
func TestMCPServerOfSwitchedOffSession(t *testing.T) {
	w := newWorld(t)
	serve := func(o *Options) {
		o.MCPServer = func(string, func() memory.Session) ([]byte, func()) { return []byte(`{"name":"signet"}`), nil }
	}
	c := w.start(newSource(), echo(), serve)
	c.open()
	c.call(1, "session/new", `{"cwd":"/tmp/x","mcpServers":[],"_meta":{"signet.ai":{"inject":false}}}`)
	c.close()
	for _, method := range []string{"session/load", "session/resume"} {
		c := w.start(newSource(), echo(), serve)
		c.open()
		c.relay.database.ready(t.Context())
		c.call(1, method, `{"cwd":"/tmp/x","sessionId":"s1","mcpServers":[]}`)
		if got := c.got(`"` + method + `"`); len(got) != 1 || strings.Contains(got[0], `"signet"`) {
			t.Errorf("the agent got %q", got)
		}
		c.close()
	}
}

// A harness of version 2 refuses a session with a server of a kind that it does not take; one may be to get none.
func TestServersTaken(t *testing.T) {
	for capabilities, want := range map[string]bool{
		`{"session":{"mcp":{"stdio":{}}}}`:               true,
		`{"session":{"mcp":{"http":{}}}}`:                false,
		`{"session":{"mcp":{"stdio":null,"http":{}}}}`:   false,
		`{"session":{"mcp":null}}`:                       false,
		`{"session":{}}`:                                 false,
		`{"session":{"mcp":{"acp":{},"stdio":{"x":1}}}}`: true,
	} {
		for _, server := range [][]byte{[]byte(`{"name":"signet","command":"/bin/x"}`), nil} {
			q := newQuiet(t, func(o *Options) {
				o.MCPServer = func(string, func() memory.Session) ([]byte, func()) { return server, nil }
			})
			q.sends(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+openVersion2+`}`)
			q.says(t, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"capabilities":`+capabilities+"}}")
			if got := q.sends(t, upNew); strings.Contains(got, `"type":"stdio"`) != (want && server != nil) {
				t.Errorf("%s: %s", capabilities, got)
			}
		}
	}
}
