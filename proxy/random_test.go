package proxy

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// Frames made at random, in the order and the pieces that chance has, both ways at once: every byte comes out as it went
// in, but for our blocks in prompts. What is watched is among them, whole and broken.
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
	for done := 0; done < n && !t.Failed(); done += 2 * each {
		seed := first + uint64(done/(2*each))
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			relaysAlike(t, &world{t: t, db: w.db, store: w.store, path: w.path}, seed, each)
		})
	}
}

func FuzzRandomFrames(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { relaysAlike(t, newWorld(t), seed, 60) })
}

// relaysAlike runs one connection of n frames each way, and checks that both ends get what the other has sent.
func relaysAlike(t *testing.T, w *world, seed uint64, n int) {
	t.Helper()
	chance := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }
	up, down := frames{Rand: chance(1)}, frames{Rand: chance(2), down: true}
	said, answered := up.some(n), down.some(n)
	if chance(0).IntN(4) == 0 { // the last line without its end
		said = strings.TrimRight(said, "\r\n")
	}
	c, h := w.scripted(func(o *Options) {
		o.Compat = Compat{Answers: devin.Answers}
		o.HoldLimit = 60 * time.Millisecond // some wait for what never comes
		if seed%4 == 1 {                    // and get the identity of the files
			silent := newSource()
			silent.block = make(chan struct{})
			open := o.Open
			o.Open = func(ctx context.Context) (*Backend, error) {
				b, err := open(ctx)
				if err == nil {
					b.Memory = silent
				}
				return b, err
			}
		}
	})
	c.openFor(h)
	got, answering := c.collect(), make(chan struct{})
	go func() {
		defer close(answering)
		inPieces(answered, chance(3), h.say)
	}()
	inPieces(said, chance(4), c.write)
	<-answering
	c.in.Close()
	heard, _ := withoutBlocks(h.heard.all(t))
	same(t, "the harness got", heard, upInit+upNew+said)
	h.die()
	same(t, "the client got", got.all(t), answered)
}

// inPieces says text in pieces of up to a length that is the same for all.
func inPieces(text string, chance *rand.Rand, say func(string)) {
	most := []int{5, 80, 700, 20_000, 300_000}[chance.IntN(5)]
	for len(text) > 0 {
		n := min(len(text), 1+chance.IntN(most))
		say(text[:n])
		text = text[n:]
	}
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
		"<signet-memory src=", `<signet-memory source=\"acp-proxy\" id=\"1\">`,
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
			q := newQuiet(t, holding).opened()
			line := `{"jsonrpc":"2.0","id":7,"method":"` + method +
				`","params":{"sessionId":"s1","cwd":"/tmp","prompt":[{"type":"text","text":"x"}]}`
			more := `,"method":` + later + "}\n" + `{"jsonrpc":"2.0","method":"_last"}` + "\n"
			err := wire.Pump(io.MultiReader(strings.NewReader(line), strings.NewReader(more)), q.up)
			q.up.queue.Join()
			if got := q.harness.String(); err != nil || got != line+more {
				t.Errorf("the harness got %s (%v)", got, err)
			}
		}
	}
}
