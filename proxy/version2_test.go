package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

const openVersion2 = `{"protocolVersion":2,"info":{"name":"tester","version":"1"},"capabilities":{}}`

// second is an agent that speaks version 2 as claude-agent-acp 0.100.0 does: it shows the prompt, answers it with the
// message's id, and says what follows and when it is idle again.
func second(idle string) agent {
	prompts := 0
	return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		update := func(what string, args ...any) {
			say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"two-session-00001","update":`+
				`{"sessionUpdate":%s}}}`, fmt.Sprintf(what, args...))
		}
		switch method(f) {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":2,"info":{"name":"two","version":"7"},`+
				`"capabilities":{"session":{"mcp":{"stdio":{},"sse":null}}}}}`, f["id"])
		case "session/new":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"two-session-00001","availableCommands":`+
				`[{"name":"of/two"}]}}`,
				f["id"])
		case "session/prompt":
			prompts++
			update(`"user_message","messageId":"u%d","content":%s`, prompts, param(f, "prompt"))
			say(`{"jsonrpc":"2.0","id":%s,"result":{"messageId":"u%d"}}`, f["id"], prompts)
			update(`"state_update","state":"running"`)
			update(`"agent_message_chunk","messageId":"a%d","content":{"type":"text","text":"heard "}`, prompts)
			update(`"tool_call_update","toolCallId":"t","title":"Read it","status":"completed"`)
			update(`"agent_message_chunk","messageId":"a%d","content":{"type":"text","text":"you"}`, prompts)
			update(`"agent_message","messageId":"a%d","content":[{"type":"text","text":"heard you"}]`, prompts)
			update(`"agent_message","messageId":"b%d","content":[{"type":"text","text":", whole"}]`, prompts)
			update(`"state_update","state":"idle",%s`, idle)
		default:
			if f["id"] != nil {
				say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, f["id"])
			}
		}
	}
}

// In version 2 a session is told, its tools served, its turns kept and its blocks cut out as in version 1.
func TestVersion2(t *testing.T) {
	w := newWorld(t)
	c := w.start(newSource(), second(`"stopReason":"end_turn"`), func(o *Options) {
		o.MCPServer = func(string, func() memory.Session) ([]byte, func()) {
			return []byte(`{"name":"signet","command":"/bin/x","args":[],"env":[]}`), nil
		}
	})
	c.call(0, "initialize", openVersion2)
	c.call(1, "session/new", `{"cwd":"/tmp/x","mcpServers":[]}`)
	if got := c.got(`"session/new"`)[0]; !strings.Contains(got,
		`"mcpServers":[{"name":"signet","command":"/bin/x","args":[],"env":[],"type":"stdio"}]`) {
		t.Errorf("the server: %s", got)
	}
	w.awaitFetch(c, "two-session-00001")
	const prompt = `{"sessionId":"two-session-00001","prompt":[{"type":"text","text":"hello"}]}`
	for i := range 2 {
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":%s}`, 2+i, prompt)
		shown := c.until(`"state":"idle"`)
		if want := fmt.Sprintf(`"messageId":"u%d","content":[{"type":"text","text":"hello"}]`,
			i+1); !strings.Contains(shown[0], want) {
			t.Errorf("the client is shown %s", shown[0])
		}
		if n := len(c.blocks(i)); n != 2-i {
			t.Errorf("prompt %d has %d blocks", i, n)
		}
	}
	c.sendPrompt(9, "two-session-00001", "/of/two now")
	c.until(`"state":"idle"`)
	c.close()
	s := w.session("two", "two-session-00001")
	if s.State != correlation.Done || s.Client != "tester" || s.AgentVersion != "7" {
		t.Errorf("the session: %+v", s)
	}
	turns, err := w.store.Turns(t.Context(), s.ID)
	if err != nil || len(turns) != 3 {
		t.Fatalf("%d turns, %v", len(turns), err)
	}
	for _, turn := range turns[:2] {
		if turn.User != "hello" || turn.Assistant != "heard \n\nyou, whole" || turn.Stop != "end_turn" ||
			len(turn.Tools) != 1 || turn.Ended.IsZero() {
			t.Errorf("the turn: %+v", turn)
		}
	}
}

// A client and a harness of different versions get through us what they get without us: the harness goes down to the
// client's version, and that is like any other conversation; one that does not is left alone, and so is a client that
// wants a proxy of a chain.
func TestVersionPairs(t *testing.T) {
	const (
		opened  = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/tmp/x","mcpServers":[]}}` + "\n"
		prompt  = `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}` + "\n"
		session = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}` + "\n"
		turn    = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message","messageId":"u1","content":[{"type":"text","text":"hello"}]}}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}` + "\n"
	)
	asks := func(version string) string {
		return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":` + version + `}}` + "\n"
	}
	speaks := func(version string) string {
		return `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":` + version + `,"agentCapabilities":{}}}` + "\n"
	}
	for name, tt := range map[string]struct {
		asks, speaks string
		told         bool   // the harness is given the context
		says         string // on stderr
	}{
		"client 2, harness 1": {asks("2"), speaks("1"), true, ""},
		"client 1, harness 2": {asks("1"), speaks("2"), false, "speaks protocol version 2"},
		"client 2, harness 3": {asks("2"), speaks("3"), false, "speaks protocol version 3"},
		"a chain": {strings.Replace(asks("1"), `{"p`, `{"_meta":{"proxy":true},"p`, 1), speaks("1"), false,
			"put its whole command into the agent's place"},
		"a chain's own method": {strings.Replace(asks("1"), "initialize", "proxy/initialize", 1), speaks("1"), false,
			"put its whole command into the agent's place"},
		"an old chain's": {strings.Replace(asks("1"), "initialize", "_proxy/initialize", 1), speaks("1"), false,
			"put its whole command into the agent's place"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c, h := w.scripted(longLimits, func(o *Options) {
				o.MCPServer = func(string, func() memory.Session) ([]byte, func()) { return nil, nil }
			})
			shown := c.collect()
			want := ""
			for _, one := range [][2]string{{tt.asks, tt.speaks}, {opened, session}, {prompt, turn}} {
				c.write(one[0])
				h.answer(`"id":`+fmt.Sprint(strings.Count(want, `"id":`)), one[1])
				want += one[1]
				shown.await(t, len(want))
			}
			sent := h.heard.String()
			if told := strings.Contains(sent, "<signet-memory "); told != tt.told {
				t.Errorf("told is %t", told)
			} else if told {
				sent = withoutBlock(t, sent)
			}
			if sent != tt.asks+opened+prompt {
				t.Errorf("the harness was sent\n%s", sent)
			}
			if got := shown.String(); got != want {
				t.Errorf("the client was sent\n%s", got)
			}
			if said := c.talk.String(); strings.Count(said, "\n") > 1 || !strings.Contains(said, tt.says) ||
				tt.says == "" && said != "" {
				t.Errorf("people were told %s", said)
			}
		})
	}
}

// What ends a turn in version 2 says how. An error after the prompt was taken in leaves no doubt, but a cancel does.
func TestIdleOfVersion2(t *testing.T) {
	for idle, want := range map[string]struct {
		stop  string
		code  int
		state correlation.State
	}{
		`"stopReason":"cancelled"`:                                    {"cancelled", 0, correlation.Doubt},
		`"stopReason":"error","error":{"code":-32603,"message":"no"}`: {"error", -32603, correlation.Done},
		`"stopReason":"error","error":{"code":-32602,"message":"no"}`: {"error", -32602, correlation.Done},
		`"background":[]`: {"end_turn", 0, correlation.Done},
	} {
		w := newWorld(t)
		c := w.start(newSource(), second(idle))
		c.call(0, "initialize", openVersion2)
		c.call(1, "session/new", cwd)
		c.sendPrompt(2, "two-session-00001", "hello")
		c.until(`"state":"idle"`)
		c.close()
		s := w.session("two", "two-session-00001")
		turns, err := w.store.Turns(t.Context(), s.ID)
		if err != nil || len(turns) != 1 || turns[0].Stop != want.stop || turns[0].Code != want.code ||
			s.State != want.state {
			t.Errorf("%s: %+v, %v; %s", idle, turns, err, s.State)
		}
	}
}

// A message of the user's is shown without our block wherever it stands, and nothing else changes.
func TestUserMessageOfVersion2(t *testing.T) {
	block := "<signet-memory source=\"acp-proxy\" id=\"1\">\nYou are Alto.\n</signet-memory>\n\n"
	quoted, _ := json.Marshal(block)
	glued, _ := json.Marshal(block + "hello")
	text := func(raw []byte) string { return `{"type":"text","text":` + string(raw) + `}` }
	for name, tt := range map[string][2]string{
		"first":       {`[` + text(quoted) + ` , ` + text([]byte(`"hello"`)) + `]`, `[ ` + text([]byte(`"hello"`)) + `]`},
		"last":        {`[` + text([]byte(`"hello"`)) + ` , ` + text(quoted) + ` ]`, `[` + text([]byte(`"hello"`)) + ` ]`},
		"alone":       {`[` + text(quoted) + `]`, `[]`},
		"glued":       {`[` + text(glued) + `]`, `[` + text([]byte(`"hello"`)) + `]`},
		"not ours":    {`[` + text([]byte(`"<signet-memory source=\"x\">"`)) + `]`, ``},
		"no text":     {`[{"type":"image","data":"signet-memory"}]`, ``},
		"no content":  {`null`, ``},
		"only theirs": {`[` + text([]byte(`"hello"`)) + `]`, ``},
	} {
		w := newWorld(t)
		c, h := w.scripted(longLimits)
		c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":` + openVersion2 + `}`)
		h.answer(`"initialize"`, `{"jsonrpc":"2.0","id":0,`+
			`"result":{"protocolVersion":2,"info":{"name":"two","version":"1"}}}`+"\n")
		c.until(`"id":0,`)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":` + cwd + `}`)
		h.answer(`"session/new"`, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`+"\n")
		c.until(`"id":1,`)
		w.awaitFetch(c, "s1")
		var s *session.Session
		c.know(func(all *session.Connection) { s = all.Session("s1") })
		c.relay.talk.see(session.Placed{Session: s, Injection: &session.Injection{
			Injection: correlation.Injection{Kind: session.KindSystem, Text: block},
		}})
		message := func(kind, content string) string {
			return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` +
				`{"sessionUpdate":"` + kind + `","messageId":"u","content":` + content + `}}}`
		}
		if tt[1] == "" {
			tt[1] = tt[0]
		}
		kind := "user_message"
		if name == "last" || name == "glued" {
			kind = "session_message"
		}
		h.say(message(kind, tt[0]) + "\n")
		if got := c.until(`"` + kind + `"`); got[len(got)-1] != message(kind, tt[1]) {
			t.Errorf("%s: got %s", name, got[len(got)-1])
		}
	}
}

// A harness of version 2 refuses a session with a server of a kind that it does not take.
func TestServersOfVersion2(t *testing.T) {
	for capabilities, want := range map[string]bool{
		`{"session":{"mcp":{"stdio":{}}}}`:               true,
		`{"session":{"mcp":{"http":{}}}}`:                false,
		`{"session":{"mcp":{"stdio":null,"http":{}}}}`:   false,
		`{"session":{"mcp":null}}`:                       false,
		`{"session":{}}`:                                 false,
		`{}`:                                             false,
		`{"session":{"mcp":{"acp":{},"stdio":{"x":1}}}}`: true,
	} {
		w := newWorld(t)
		c, h := w.scripted(longLimits, func(o *Options) {
			o.MCPServer = func(string, func() memory.Session) ([]byte, func()) {
				return []byte(`{"name":"signet","command":"/bin/x"}`), nil
			}
		})
		c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":` + openVersion2 + `}`)
		h.answer(`"initialize"`, `{"jsonrpc":"2.0","id":0,`+
			`"result":{"protocolVersion":2,"info":{"name":"two","version":"1"},"capabilities":`+capabilities+"}}\n")
		c.until(`"id":0,`)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/tmp/x"}}`)
		h.await(`"session/new"`)
		if got := h.heard.String(); strings.Contains(got, `"type":"stdio"`) != want {
			t.Errorf("%s: %s", capabilities, got)
		}
		h.say(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}` + "\n")
		c.until(`"id":1,`)
	}
}
