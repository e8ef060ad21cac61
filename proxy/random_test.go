package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/eventlog"
	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Frames made at random, in the order and the pieces that chance has, with a memory that has nothing to say: every byte
// comes out as it went in. What is watched is among them, whole and broken.
func TestRandomFrames(t *testing.T) {
	const each = 500 // frames a connection and direction
	n := 20_000
	if more, err := strconv.Atoi(os.Getenv("SIGNET_ACP_FRAMES")); err == nil {
		n = more
	}
	if testing.Short() {
		n = 2000
	}
	first := uint64(1)
	if seed, err := strconv.ParseUint(os.Getenv("SIGNET_ACP_SEED"), 10, 64); err == nil {
		first = seed
	}
	w := newWorld(t)
	began := time.Now()
	for done := 0; done < n; done += 2 * each {
		seed := first + uint64(done/(2*each))
		if !relaysAlike(t, w, seed, each) {
			t.Fatalf("seed %d", seed)
		}
		if done > 0 && done%100_000 == 0 {
			t.Logf("%d frames, up to seed %d, after %s", done, seed, time.Since(began).Round(time.Second))
		}
	}
	t.Logf("%d frames, seeds %d to %d, in %s", n, first, first+uint64((n-1)/(2*each)),
		time.Since(began).Round(time.Second))
}

func FuzzRandomFrames(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { relaysAlike(t, newWorld(t), seed, 60) })
}

// relaysAlike runs one connection of n frames each way and reports whether both ends got what the other sent.
func relaysAlike(t *testing.T, w *world, seed uint64, n int) bool {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 0))
	up, down := frames{Rand: rand.New(rand.NewPCG(seed, 1))}, frames{Rand: rand.New(rand.NewPCG(seed, 2)), down: true}
	said, answered := up.some(n), down.some(n)
	if rnd.IntN(4) == 0 { // the last line without its end
		said = strings.TrimRight(said, "\r\n")
	}
	harness, client := newOutlet(), newOutlet()
	opened, gone := make(chan struct{}), make(chan struct{})
	var hangup sync.Once
	var events *eventlog.Log
	o := Options{
		Name: "random",
		Client: Client{Out: client, Stderr: io.Discard, In: &pieces{Rand: rand.New(rand.NewPCG(seed, 3)),
			parts: []part{{text: upInit + upNew}, {after: opened, text: said}}}},
		Harness: Harness{In: harness, Hangup: func() { hangup.Do(func() { close(gone) }) },
			Out: &pieces{Rand: rand.New(rand.NewPCG(seed, 4)), parts: []part{{after: harness.has(upNew),
				text: downInit + downNew}, {after: opened, text: answered}, {after: gone}}}},
		HoldLimit: patience, ClaimLimit: patience, LookLimit: patience,
		Compat: Compat{Answers: devin.Answers},
		Events: func(folded func(bool, []int)) (Events, error) {
			var err error
			events, err = eventlog.Open(eventlog.Options{
				Dir:     filepath.Join(filepath.Dir(w.path), "live"),
				Process: correlation.ProcessInfo{Kind: correlation.Relay},
				Folded:  folded,
			})
			return events, err
		},
		Open: func(context.Context) (*Backend, error) {
			events.Attach(w.store)
			return &Backend{Ledger: w.store, Memory: emptyMemory{}}, nil
		},
	}
	go func() {
		<-client.has(downNew)
		close(opened)
	}()
	if err := New(o).Run(); err != nil {
		t.Errorf("the relay ended with %v", err)
	}
	same(t, "the harness got", harness.String(), upInit+upNew+said)
	same(t, "the client got", client.String(), downInit+downNew+answered)
	return !t.Failed()
}

// emptyMemory is a source without any context.
type emptyMemory struct{}

func (emptyMemory) Start(context.Context, memory.Session) (memory.Context, error) {
	return memory.Context{}, nil
}
func (emptyMemory) Recall(context.Context, memory.Session, string, []string) (memory.Context, error) {
	return memory.Context{}, nil
}
func (emptyMemory) Identity(memory.Session) memory.Context { return memory.Context{} }

// A part is text that is said after something has happened.
type part struct {
	after <-chan struct{}
	text  string
}

// pieces is a reader that gives its parts in pieces of random length.
type pieces struct {
	*rand.Rand
	parts []part
	most  int // bytes of a piece
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.parts) > 0 {
		now := &p.parts[0]
		if now.after != nil {
			<-now.after
			now.after = nil
		}
		if now.text == "" {
			p.parts = p.parts[1:]
			continue
		}
		if p.most == 0 {
			p.most = []int{5, 80, 700, 20_000, 300_000}[p.IntN(5)]
		}
		n := copy(b[:min(len(b), 1+p.IntN(p.most))], now.text)
		now.text = now.text[n:]
		return n, nil
	}
	return 0, io.EOF
}

// keptOutput keeps what is written to it.
type keptOutput struct {
	mu    sync.Mutex
	b     bytes.Buffer
	waits map[string]chan struct{}
}

func newOutlet() *keptOutput { return &keptOutput{waits: map[string]chan struct{}{}} }

func (o *keptOutput) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.b.Write(b)
	for text, c := range o.waits {
		if bytes.Contains(o.b.Bytes(), []byte(text)) {
			close(c)
			delete(o.waits, text)
		}
	}
	return len(b), nil
}

func (o *keptOutput) Close() error { return nil }

func (o *keptOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// has is closed once text was written.
func (o *keptOutput) has(text string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := make(chan struct{})
	if bytes.Contains(o.b.Bytes(), []byte(text)) {
		close(c)
	} else {
		o.waits[text] = c
	}
	return c
}

// frames makes lines that resemble those of the protocol.
type frames struct {
	*rand.Rand
	down bool
}

func (f frames) some(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(f.line())
		b.WriteString(f.of("\n", "\n", "\n", "\n", "\r\n"))
	}
	return b.String()
}

func (f frames) of(list ...string) string { return list[f.IntN(len(list))] }

func (f frames) line() string {
	line := f.frame()
	switch f.IntN(30) {
	case 0: // cut off
		line = line[:1+f.IntN(len(line))]
	case 1: // a byte that is another
		b := []byte(line)
		b[1+f.IntN(len(b)-1)] = f.of("\x00", "\xff", "\"", "\\", "}", "{", ",", ":")[0]
		line = string(b)
	case 2:
		line = f.of("", " ", "\t") + line + f.of("", " ", "x", "{}")
	case 3:
		line = "[" + line + "," + f.frame() + "]"
	case 4:
		line = f.of("", "{}", "[]", "{", "[", "{\"", " ")
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, line)
}

// frame is an object of the members of a frame, each perhaps missing, twice, odd or in another place.
func (f frames) frame() string {
	members := []string{`"jsonrpc":"2.0"`}
	kind := f.IntN(10)
	if kind < 7 {
		members = append(members, f.key("method")+":"+f.method())
	}
	if kind > 3 || f.IntN(2) == 0 {
		members = append(members, f.key("id")+":"+f.id())
	}
	if kind < 7 {
		members = append(members, f.key("params")+":"+f.params())
	} else {
		members = append(members, f.of(`"result":`+f.result(), `"result":`+f.result(),
			`"error":{"code":-32601,"message":"no"}`, `"error":null`, `"result":null,"error":{}`))
	}
	for f.IntN(5) == 0 {
		members = append(members, f.of(f.key("method")+":"+f.method(), f.key("id")+":"+f.id(), `"_meta":{"x":1.0}`,
			`"result":{}`, `"error":{"code":1}`, f.key("params")+":"+f.params(), `"":0`))
	}
	if f.IntN(3) == 0 {
		f.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	if f.IntN(10) == 0 { // taken back
		members = append(members, f.of(`"method":null`, `"method":""`, `"id":null`, `"params":null`))
	}
	space := f.of("", "", "", " ", "\t")
	return "{" + space + strings.Join(members, space+","+space) + space + "}"
}

func (f frames) key(name string) string {
	switch f.IntN(20) {
	case 0:
		return fmt.Sprintf(`"\u%04x%s"`, name[0], name[1:])
	case 1:
		return `"` + strings.ToUpper(name) + `"`
	case 2:
		return `"` + name + `" `
	}
	return `"` + name + `"`
}

func (f frames) method() string {
	if f.IntN(12) == 0 {
		return f.of("null", "1", `""`, "{}", "true", `"session\/prompt"`, `"session/prompt\u0000"`)
	}
	if f.down {
		return `"` + f.of("session/update", "session/update", "session/update", "session/update",
			"session/request_permission", "fs/read_text_file", "terminal/create",
			devin.Answers[0], "_other", "session/prompt") + `"`
	}
	return `"` + f.of("session/prompt", "session/prompt", "session/new", "session/load", "session/resume",
		"session/fork", "session/list", "session/close", "session/delete",
		"session/cancel", "$/cancel_request", "session/set_title", "session/set_mode", "_session/steering", "_other",
		"authenticate") + `"`
}

func (f frames) id() string {
	if f.IntN(10) == 0 {
		return f.of("null", "1.0", "1e0", `"1"`, `"\u0031"`, "{}", "-0", "12345678901234567890123", `""`)
	}
	return strconv.Itoa(f.IntN(40))
}

func (f frames) session() string {
	if f.IntN(8) == 0 {
		return f.of("null", "1", `"\u0073\u0031"`, `""`, `"`+strings.Repeat("s", f.IntN(300))+`"`)
	}
	return f.of(`"s1"`, `"s1"`, `"s1"`, `"s2"`, `"s3"`)
}

func (f frames) text() string {
	return `"` + f.of("hello", "/clear", "/home/x is broken", "", "日本語", `a\nb`, `\ud83d\ude00`, `\ud83d`,
		"<signet-memory source=", `<signet-memory source=\"acp-proxy\" id=\"1\">`,
		"<private>x</private>", strings.Repeat("long ", f.IntN(3000)), strings.Repeat("é", f.IntN(100))) + `"`
}

func (f frames) block() string {
	return f.of(`{"type":"text","text":`+f.text()+`}`, `{"type":"text","text":`+f.text()+`}`,
		`{"text":`+f.text()+`,"type":"text"}`,
		`{"type":"image","data":"`+strings.Repeat("QUJD", f.IntN(4000))+`","mimeType":"image/png"}`,
		`{"type":"resource","resource":{"uri":"file:///x","text":`+f.text()+`}}`, "null", "[]", `{"type":1}`)
}

func (f frames) params() string {
	if f.IntN(15) == 0 {
		return f.of("null", "[]", "{}", `"x"`, "1", "["+f.block()+"]")
	}
	members := []string{f.key("sessionId") + ":" + f.session()}
	if f.down {
		members = append(members, f.key("update")+":"+f.update())
	} else {
		members = append(members, f.of(`"prompt":[`+f.block()+`]`, `"prompt":[`+f.block()+","+f.block()+
			`]`, `"prompt":[]`, `"prompt":null`, `"cwd":"/tmp/x","mcpServers":[]`,
			`"cwd":"/tmp/x","mcpServers":null`, `"requestId":`+f.id(), `"_meta":{"signet.ai":{"inject":false}}`,
			`"title":`+f.text()))
	}
	if f.IntN(3) == 0 {
		f.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (f frames) update() string {
	kind := f.of("agent_message_chunk", "agent_message_chunk", "agent_message_chunk", "user_message_chunk",
		"session_info_update", "tool_call", "tool_call_update", "usage_update",
		"available_commands_update", "compaction_update", "plan", "agent_thought_chunk")
	members := []string{f.key("sessionUpdate") + `:"` + kind + `"`,
		f.of(`"content":`+f.block(), `"content":`+f.block(), `"title":`+f.text(), `"toolCallId":"t1","title":"Read"`,
			`"used":10,"size":100`, `"availableCommands":[{"name":"clear"}]`, `"status":"completed"`, `"content":null`)}
	if f.IntN(4) == 0 {
		members[0], members[1] = members[1], members[0]
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (f frames) result() string {
	return f.of("{}", "null", `{"stopReason":"end_turn"}`, `{"stopReason":"end_turn"}`, `{"sessionId":`+f.session()+`}`,
		`{"sessionId":"s`+strconv.Itoa(f.IntN(9))+`","modes":{}}`,
		`{"sessions":[{"sessionId":"s1","title":`+f.text()+`}]}`, `{"protocolVersion":1}`, "[]", "1")
}

// What was held for one thing is not answered for another: a request whose method is taken back passes as it came.
func TestMethodTakenBack(t *testing.T) {
	for _, method := range []string{"session/delete", "session/close", "session/list", "session/load", "session/prompt",
		"initialize"} {
		for _, later := range []string{"null", `"_other"`, `"session/prompt"`, `""`} {
			c, h := newWorld(t).scripted()
			c.begin(h)
			line := `{"jsonrpc":"2.0","id":7,"method":"` + method +
				`","params":{"sessionId":"s1","cwd":"/tmp","prompt":[{"type":"text","text":"x"}]}`
			c.write(line)
			// let it be judged: where it is not, the test proves less and fails for nothing
			time.Sleep(5 * time.Millisecond)
			c.write(`,"method":` + later + "}\n" + `{"jsonrpc":"2.0","method":"_last"}` + "\n")
			h.await(line + `,"method":` + later + "}\n" + `{"jsonrpc":"2.0","method":"_last"}` + "\n")
		}
	}
}
