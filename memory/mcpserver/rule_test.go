package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet"
)

func plainTool(name string) *mcp.Tool {
	return &mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}
}

// What was kept of a daemon's tools is read again for its URL alone, and only where all of it can be shown.
func TestToolCache(t *testing.T) {
	file := toolCache(filepath.Join(t.TempDir(), "tools.json"))
	for url, version := range map[string]string{"http://a": "1", "http://b": "2"} {
		if err := file.write(url, version, []*mcp.Tool{plainTool(version)}); err != nil {
			t.Fatal(err)
		}
	}
	for url, want := range map[string]string{"http://a": "1", "http://b": "2", "http://c": ""} {
		version, tools := file.read(url)
		if version != want || (len(tools) == 1) != (want != "") || len(tools) == 1 && tools[0].Name != want {
			t.Errorf("%s: %s %v", url, version, tools)
		}
	}
	before, err := os.Stat(string(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := file.write("http://a", "1", []*mcp.Tool{plainTool("1")}); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(string(file)); err != nil || !os.SameFile(before, after) {
		t.Errorf("written again without a change: %v", err)
	}
	const good = `{"http://a":{"version":"1","tools":[{"name":"x","inputSchema":{"type":"object"}}%s]}}`
	for text, want := range map[string]int{
		fmt.Sprintf(good, ""): 1, fmt.Sprintf(good, ",null"): 0, fmt.Sprintf(good, `,{"name":"y"}`): 0, "[": 0, "": 0,
		fmt.Sprintf(good, "") + strings.Repeat(" ", maxCached): 0,
	} {
		if err := os.WriteFile(string(file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, tools := file.read("http://a"); len(tools) != want {
			t.Errorf("%.80s: %d tools", text, len(tools))
		}
	}
	if err := toolCache("").write("http://a", "1", nil); err != nil {
		t.Error(err)
	}
	if version, tools := toolCache("").read("http://a"); version != "" || tools != nil {
		t.Error("read what is not kept")
	}
}

// The SDK panics about a tool that it cannot show.
func TestShowable(t *testing.T) {
	for _, c := range []struct {
		tool *mcp.Tool
		want bool
	}{
		{plainTool("x"), true}, {plainTool(""), false}, {&mcp.Tool{Name: "x"}, false},
		{&mcp.Tool{Name: "x", InputSchema: map[string]any{"type": "array"}}, false},
		{&mcp.Tool{Name: "x", InputSchema: map[string]any{"type": "object"}, OutputSchema: make(chan int)}, false},
	} {
		if got := showable(c.tool); got != c.want {
			t.Errorf("%+v: %v", c.tool, got)
		}
	}
}

// Which tools stand beside a daemon's, and which of two with one name answers.
func TestExtras(t *testing.T) {
	firm, yielding := Extra{Tool: plainTool("firm")}, Extra{Tool: plainTool("yielding"), Yields: true}
	for _, c := range []struct {
		all  extras
		has  []string // the daemon's
		want string
		ours string
	}{
		{nil, []string{"a", "firm"}, "a firm", ""},
		{extras{firm, yielding}, []string{"a"}, "a firm yielding", "firm yielding"},
		{extras{firm, yielding}, []string{"firm", "a", "yielding"}, "a yielding firm", "firm"},
	} {
		l := &daemonInfo{}
		for _, name := range c.has {
			l.tools = append(l.tools, plainTool(name))
		}
		var names, ours []string
		for _, tool := range c.all.beside(l.list(), l) {
			names = append(names, tool.Name)
		}
		for _, name := range []string{"a", "firm", "yielding"} {
			if x := c.all.named(l, name); x != nil {
				ours = append(ours, x.Tool.Name)
			}
		}
		if strings.Join(names, " ") != c.want || strings.Join(ours, " ") != c.ours {
			t.Errorf("beside %v: %v, ours %v", c.has, names, ours)
		}
	}
	if l := len(extras{firm}.beside(nil, nil)); l != 1 {
		t.Errorf("without a daemon: %d", l)
	}
}

// A call that asked to be told hears how far it has come; any other is left alone.
func TestProgress(t *testing.T) {
	Progress(t.Context(), 1, "nobody asked")
	Progress(context.WithValue(t.Context(), requestKey{}, &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}), 1, "x")
}

// A passage in a long answer is shown with what stands around it, cut between characters.
func TestNear(t *testing.T) {
	long := strings.Repeat("ü", maxAnswer)
	at := func(n int) string { return long[:2*n] + "HERE" + long[2*n:] }
	for _, c := range []struct {
		name, answer   string
		from, to, size int // "… " in front, " …" behind, bytes between
	}{
		{"short", "x HERE", 0, 0, 6}, {"as long as can be", strings.Repeat("x", maxAnswer-4) + "HERE", 0, 0, maxAnswer},
		{"at the beginning", at(0), 0, 1, maxAnswer}, {"near it", at(maxAnswer / 16), 0, 1, maxAnswer},
		{"in the middle", at(maxAnswer / 2), 1, 1, maxAnswer}, {"at the end", at(maxAnswer), 1, 0, maxAnswer},
	} {
		got := near(c.answer, "HERE\nand more")
		front, behind := strings.HasPrefix(got, "… "), strings.HasSuffix(got, " …")
		size := len(strings.TrimSuffix(strings.TrimPrefix(got, "… "), " …"))
		if front != (c.from == 1) || behind != (c.to == 1) || !strings.Contains(got, "HERE") || size != c.size ||
			strings.ToValidUTF8(got, "?") != got {
			t.Errorf("%s: %v %v, %d bytes", c.name, front, behind, size)
		}
	}
	if got := near(at(maxAnswer/2), "not there"); !strings.HasPrefix(got, "üü") || strings.Contains(got, "HERE") {
		t.Errorf("without the passage: %.20s", got)
	}
}

// Fields are replaced, all others stay; nothing is done for nothing.
func TestEdit(t *testing.T) {
	for _, c := range []struct {
		raw  string
		with map[string]any
		want string
	}{
		{`{ "a": 1 }`, nil, `{ "a": 1 }`}, {`{ "a": 1, "b": "<" }`, map[string]any{"a": 2}, `{"a":2,"b":"\u003c"}`},
		{``, map[string]any{"a": 2}, `{"a":2}`}, {`[1]`, map[string]any{"a": 2}, `error`},
	} {
		got, err := edit(json.RawMessage(c.raw), c.with)
		if err != nil {
			got = json.RawMessage("error")
		}
		if string(got) != c.want {
			t.Errorf("%s with %v: %s", c.raw, c.with, got)
		}
	}
}

// Of what is stored, private passages and secrets are left out; of a search nothing is refused.
func TestConcealed(t *testing.T) {
	file := privacy.FileAt(filepath.Join(t.TempDir(), "private"))
	if err := file.Keep("/p", []string{"Quay-17b"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ raw, want string }{
		{`{"content":" It lies at quay 17b. ","tags":"a,<private>b</private>"}`, `{"content":"It lies at [private].","tags":"a,"}`},
		{`{"type":"<private>x</private>","x":1}`, `{"type":"","x":1}`},
		{`{"content":"<private>x</private>"}`, "nothing left to save: private passages and secrets are never saved"},
		{`{"x":1}`, `{"x":1}`},
	} {
		v := values{}
		if err := json.Unmarshal([]byte(c.raw), &v); err != nil {
			t.Fatal(err)
		}
		err := v.conceal(file, "/p")
		got, failed := v.into(json.RawMessage(c.raw))
		if err != nil {
			got = json.RawMessage(err.Error())
		}
		if string(got) != c.want || failed != nil {
			t.Errorf("%s: %s, %v", c.raw, got, failed)
		}
	}
}

// What of a daemon's memories a call may name. The rows are the daemon's; of an id that it does not have it says so
// itself.
func TestAllowed(t *testing.T) {
	row := func(_ context.Context, id string) (json.RawMessage, error) {
		if id == "unknown" {
			return nil, errors.New("404")
		}
		return json.RawMessage(fmt.Sprintf(`{"project":"/src/%s"}`, id)), nil
	}
	many := map[string]float64{}
	for n := range maxRated + 1 {
		many[fmt.Sprint(n)] = 1
	}
	most := map[string]float64{"heron": 1}
	for n := range maxRated - 1 {
		most[fmt.Sprint("heron/", n)] = 1
	}
	for _, c := range []struct {
		s    scope
		v    values
		want string
	}{
		{scope{}, values{"id": "teal"}, `{}`}, {scope{"/src/heron"}, values{"id": "teal"}, `no memory of this project has the id "teal"`},
		{scope{"/src/heron"}, values{"id": "heron"}, `{}`}, {scope{"/src/heron/"}, values{"id": "heron/nest"}, `{}`},
		{scope{"/src/heron"}, values{"id": "heron2"}, `no memory`}, {scope{"/src/heron"}, values{"id": "unknown"}, `{}`},
		{scope{"/src/heron"}, values{"ratings": many}, "at most 50"}, {scope{"/src/heron"}, values{"ratings": most}, `{}`},
		{scope{"/src/heron"}, values{"ratings": map[string]float64{"teal": 1}}, "has any of these ids"},
		{scope{"/src/heron"}, values{"ratings": map[string]float64{"teal": 1, "heron": -1}}, `{"ratings":{"heron":-1}}`},
	} {
		got, err := c.s.allowed(t.Context(), row, json.RawMessage(`{}`), c.v)
		if err != nil {
			got = json.RawMessage(err.Error())
		}
		if !strings.HasPrefix(string(got), c.want) && (err == nil || !strings.Contains(string(got), c.want)) {
			t.Errorf("%+v %.40v: %s, want %s", c.s, c.v, got, c.want)
		}
	}
}

// Other projects' memories are taken out of an answer's text and of its structured form; a failure stays as it is.
func TestFilter(t *testing.T) {
	const both, own = `{"results":[{"project":"/p"},{"project":"/q"}]}`, `{"results":[{"project":"/p"}]}`
	answer := func(failed bool) *mcp.CallToolResult {
		r := textResult(both)
		r.StructuredContent, r.IsError = json.RawMessage(both), failed
		return r
	}
	for _, c := range []struct {
		s      scope
		failed bool
		want   string
	}{{scope{"/p"}, false, own}, {scope{"/p"}, true, both}, {scope{}, false, both}} {
		got := c.s.filter(answer(c.failed))
		structured, _ := json.Marshal(got.StructuredContent)
		if text := got.Content[0].(*mcp.TextContent).Text; text != c.want || string(structured) != c.want {
			t.Errorf("%+v, failed %v: %s, %s", c.s, c.failed, text, structured)
		}
	}
	if r := (scope{"/p"}).filter(nil); r != nil {
		t.Error("something of nothing")
	}
	if r := textResult("x"); (scope{"/p"}).filter(r).StructuredContent != nil {
		t.Error("a structured form out of none")
	}
}

// What an answer's text must say for the daemon's MCP server to be passed over.
func TestUnreached(t *testing.T) {
	for text, want := range map[string]bool{"connect ECONNREFUSED": true, "Connection refused": true, "fetch failed": true,
		"HTTP 401": true, "14010": false, "unauthorised": true, "no such memory": false} {
		r := failure(errors.New(text))
		if got := daemonUnreached(r); got != want {
			t.Errorf("%s: %v", text, got)
		}
		if r.IsError = false; daemonUnreached(r) {
			t.Errorf("%s: but it succeeded", text)
		}
	}
}

// After which failures a call has certainly changed nothing.
func TestNotExecuted(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{errNotSent, true}, {fmt.Errorf("x: %w", syscall.ECONNREFUSED), true}, {signet.ErrNotOurs, true},
		{&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, true}, {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, false},
		{context.DeadlineExceeded, false},
	} {
		if got := notExecuted(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

// Whether an older daemon's own tools would reach it.
func TestCallsWrongPort(t *testing.T) {
	for url, want := range map[string][2]bool{ // of an older one, of a newer one
		"http://127.0.0.1:" + defaultPort: {false, false}, "http://heron.example:4000": {true, false},
		"http://10.0.0.1:4000": {true, false}, "http://10.0.0.1:" + defaultPort: {false, false},
	} {
		client, err := signet.New(signet.Options{URL: url, Configured: true, Plain: true})
		if err != nil {
			t.Fatal(err)
		}
		w := newWatch(Options{Daemon: client}, nil)
		for i, newer := range []bool{false, true} {
			if got := w.callsWrongPort(t.Context(), signet.Health{Newer: newer}); got != want[i] {
				t.Errorf("%s, newer %v: %v", url, newer, got)
			}
		}
	}
}

// A message waits for an answer if it is a call, and none that its client only ends by leaving.
func TestAsks(t *testing.T) {
	for line, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`:           true,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`: false,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:   false,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                     false,
	} {
		m, err := decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		id, got := asks(m)
		if got != want || got && id != (func() jsonrpc.ID { id, _ := jsonrpc.MakeID(1.0); return id })() {
			t.Errorf("%s: %v %v", line, id, got)
		}
	}
}

// Which ways out there are of a message that is too long to be kept.
func TestIDIn(t *testing.T) {
	for _, c := range []struct{ first, last, want string }{
		{`{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"`, `"}}`, `7`}, {`{"id":"a","params":{"id":8,`, `}}`, `"a"`},
		{`{"params":{"id":8,`, `"}},"id":9}`, `9`}, {`{"params":{"id":8,`, `"}},"id":"x\"y","jsonrpc":"2.0"}`, `"x\"y"`},
		{`{"params":{"id":8,`, `"},"id":9}}`, `null`}, {`{"id":{},"params":{`, `"},"id":null}`, `null`},
		{`[{"id":7}`, `]`, `null`}, {``, ``, `null`}, {`{"id":[1],"x":`, `}, "id" : -3 , "method":"m"} `, `-3`},
	} {
		if got := string(idIn([]byte(c.first), []byte(c.last))); got != c.want {
			t.Errorf("%s…%s: %s, want %s", c.first, c.last, got, c.want)
		}
	}
}

// Nothing begins any more once a server has ended, and what began is waited for.
func TestLifetime(t *testing.T) {
	l := newLifetime()
	done := make(chan struct{})
	if !l.run(func() { <-l.ctx.Done(); close(done) }) {
		t.Fatal("nothing ran")
	}
	l.close()
	<-done
	l.tasks.Wait()
	if l.begin() || l.run(func() { t.Error("ran after the end") }) {
		t.Error("began after the end")
	}
	s := newServer(t, newStore(t))
	s.Close()
	if _, err := s.Socket(robin); !errors.Is(err, errClosed) {
		t.Errorf("socket: %v", err)
	}
	if _, _, err := s.HTTP(robin); !errors.Is(err, errClosed) {
		t.Errorf("http: %v", err)
	}
	if err := s.Serve(t.Context(), robin, nil, nil); !errors.Is(err, errClosed) {
		t.Errorf("serve: %v", err)
	}
}

// A token opens one endpoint until it is revoked.
func TestTokens(t *testing.T) {
	web := httpServer{lifetime: newLifetime()}
	one, two := &endpoint{token: "a"}, &endpoint{token: "b"}
	web.issue(one)
	web.issue(two)
	if web.endpoint("a") != one || web.endpoint("b") != two || web.endpoint("") != nil {
		t.Error("tokens open other endpoints")
	}
	web.revoke("a")
	web.revoke("a")
	if web.endpoint("a") != nil || web.endpoint("b") != two {
		t.Error("a revoked token opens something, or the other one does not")
	}
}

// What the store says of a call in words for the agent.
func TestLocalErrors(t *testing.T) {
	store := storeOf(t, false)
	s := newServer(t, store)
	e := s.endpoint(robin)
	m, _, err := store.Add(t.Context(), embedded.Memory{Content: "Herons wade & wait.", Project: "/src/heron"})
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := store.Add(t.Context(), embedded.Memory{Content: "Teals dabble.", Project: "/src/teal"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool string
		v    values
		want string
	}{
		{"memory_get", values{"id": m.ID}, `Herons wade & wait.`}, {"memory_get", values{"id": other.ID}, "memory_search and memory_list have the ids"},
		{"memory_get", values{"id": "nothing"}, `"nothing"; memory_search`}, {"memory_forget", values{"id": m.ID[:5]}, "at least 6 characters"},
		{"memory_forget", values{"id": other.ID}, "have the ids"}, {"memory_store", values{"content": strings.Repeat("a ", embedded.MaxContent)}, "too long"},
		{"memory_store", values{"content": " "}, "nothing left"}, {"memory_unheard", values{}, "unknown tool"},
		{"memory_list", values{}, "Herons"}, {"memory_search", values{"query": "dabble"}, `{"results":[]}`},
		{"memory_store", values{"content": "Bitterns boom.", "importance": 0.5}, `"status":"stored"`},
		{"memory_store", values{"content": "Bitterns boom.", "importance": 0.7}, `"status":"updated"`},
		{"memory_modify", values{"id": m.ID, "type": "preference"}, `"status":"updated"`},
		{"memory_forget", values{"id": m.ID[:6]}, `"status":"deleted"`},
	} {
		r, err := local(t.Context(), e.o, toolCall{who: robin(), tool: tool{name: c.tool}, values: c.v})
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = r.Content[0].(*mcp.TextContent).Text
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %.60v: %s, want %s", c.tool, c.v, got, c.want)
		}
	}
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := local(late, e.o, toolCall{who: robin(), tool: tool{name: "memory_list"}}); err == nil ||
		!strings.Contains(err.Error(), "busy") {
		t.Errorf("past its limit: %v", err)
	}
}

// The key of a call is the session's, and the one that is given only where that has none.
func TestSessionKey(t *testing.T) {
	v := values{"session_key": "given"}
	if got := []string{sessionKey(memory.Session{Key: "own"}, v), sessionKey(memory.Session{}, v)}; cmp.Diff(got,
		[]string{"own", "given"}) != "" {
		t.Error(got)
	}
	l := &daemonInfo{}
	if got := string(l.fill(toolCall{who: memory.Session{Key: "own"}, name: feedbackTool,
		raw: json.RawMessage(`{"ratings":{}}`)}, scope{})); got != `{"ratings":{},"session_key":"own"}` {
		t.Error(got)
	}
}
