package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
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
	turns, err := w.store.Book().Turns(t.Context(), s.ID)
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
// client's version, and that is like any other conversation. With one that does not, with a version that we do not know,
// and for a client that wants a proxy of a chain, everything passes as it is, and that is said once.
func TestVersions(t *testing.T) {
	const asks, speaks, chain = "speaks protocol version ", "put its whole command into the agent's place", `"_meta":{"proxy":true},`
	for name, tt := range map[string]struct {
		asks, meta, speaks string
		told               string
	}{
		"the same":            {"1", "", "1", ""},
		"client 2, harness 1": {"2", "", "1", ""},
		"client 2, harness 2": {"2", "", "2", ""},
		"client 1, harness 2": {"1", "", "2", asks + "2"},
		"client 2, harness 3": {"2", "", "3", asks + "3"},
		"a text":              {"1", "", `"1"`, asks + `"1"`},
		"another":             {"1", "", "1.5", asks + "1.5"},
		"null":                {"1", "", "null", asks + "null"},
		"a chain":             {"1", chain, "1", speaks},
	} {
		q := newQuiet(t, func(o *Options) {
			o.MCPServer = func(string, func() memory.Session) ([]byte, func()) { return []byte(`{"name":"signet"}`), nil }
		})
		q.agent.Store(&agentHello{})
		q.sends(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{`+tt.meta+`"protocolVersion":`+tt.asks+`}}`)
		answer := `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":` + tt.speaks + `,"capabilities":{"session":{"mcp":{"stdio":{}}}}}}`
		if got := q.says(t, answer); got != answer {
			t.Errorf("%s: the client was sent %s", name, got)
		}
		if said := q.told.String(); strings.Count(said, "\n") > 1 || !strings.Contains(said, tt.told) || tt.told == "" && said != "" {
			t.Errorf("%s: people were told %s", name, said)
		}
		if got := q.sends(t, upNew); strings.Contains(got, "signet") != (tt.told == "") {
			t.Errorf("%s: the harness was sent %s", name, got)
		}
		q.says(t, strings.Replace(downNew, "s1", "s2", 1))
		if known := q.session("s2") != nil; known != (tt.told == "") {
			t.Errorf("%s: the session is known: %t", name, known)
		}
	}
	for _, method := range []string{methodChain, methodChainOld} {
		q := newQuiet(t)
		q.agent.Store(&agentHello{})
		if line := `{"jsonrpc":"2.0","id":0,"method":"` + method + `","params":{}}`; q.sends(t, line) != line ||
			!strings.Contains(q.told.String(), speaks) {
			t.Errorf("people were told %s", q.told.String())
		}
	}
}

// What ends a turn in version 2 says how; package session says what becomes of the block.
func TestIdleOfVersion2(t *testing.T) {
	for idle, want := range map[string]string{
		`,"stopReason":"cancelled"`:                                    "cancelled 0 0",
		`,"stopReason":"error","error":{"code":-32603,"message":"no"}`: "error -32603 0",
		`,"background":[],"usage":{"inputTokens":10}`:                  "end_turn 0 1",
	} {
		q := newQuiet(t).opened()
		q.agent.Store(&agentHello{version: version2})
		q.sends(t, promptOf(2, "hello"))
		q.says(t, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		running := update("s1", `{"sessionUpdate":"state_update","state":"running"}`)
		last := update("s1", `{"sessionUpdate":"state_update","state":"idle"`+idle+`}`)
		if got := q.says(t, running, last); got != running+"\n"+last {
			t.Errorf("%s: the client was sent %s", idle, got)
		}
		usages, got := 0, ""
		for _, e := range q.events.take() {
			switch e := e.(type) {
			case correlation.UsageReported:
				usages++
			case correlation.TurnEnded:
				got += fmt.Sprint(e.Stop, " ", e.Code, " ", usages)
			}
		}
		if got != want {
			t.Errorf("%s: the turn ended %q", idle, got)
		}
	}
}

// A message of the user's is shown without our block wherever it stands, and nothing else changes.
func TestUserMessageOfVersion2(t *testing.T) {
	ours, hello := textBlock(sampleBlock), textBlock("hello")
	for name, tt := range map[string]struct{ kind, in, want string }{
		"first":       {updateUserMessage, `[` + ours + ` , ` + hello + `]`, `[ ` + hello + `]`},
		"last":        {updateSessionMessage, `[` + hello + ` , ` + ours + ` ]`, `[` + hello + ` ]`},
		"alone":       {updateUserMessage, `[` + ours + `]`, `[]`},
		"glued":       {updateSessionMessage, `[` + textBlock(sampleBlock+"hello") + `]`, `[` + hello + `]`},
		"not ours":    {updateUserMessage, `[` + textBlock("<signet-memory source=\"x\">") + `]`, ``},
		"no text":     {updateUserMessage, `[{"type":"image","data":"signet-memory"}]`, ``},
		"no content":  {updateUserMessage, `null`, ``},
		"only theirs": {updateUserMessage, `[` + hello + `]`, ``},
	} {
		q := newQuiet(t)
		q.agent.Store(&agentHello{version: version2})
		message := `{"sessionUpdate":"` + tt.kind + `","messageId":"u","content":`
		if got := q.says(t, update("s1", message+tt.in+`}`)); got != update("s1", message+cmp.Or(tt.want, tt.in)+`}`) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
