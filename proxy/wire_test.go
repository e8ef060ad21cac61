package proxy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// The least of a conversation, line by line.
const (
	upInit = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,` +
		`"clientInfo":{"name":"tester","version":"1"}}}` + "\n"
	downInit = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"scripted","version":"1"}}}` +
		"\n"
	upNew   = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/tmp/x","mcpServers":[]}}` + "\n"
	downNew = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}` + "\n"
	upHello = `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1",` +
		`"prompt":[{"type":"text","text":"hello"}]}}` + "\n"
	downEnd = `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}` + "\n"
)

func chunk(session, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":`+
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, session, text) + "\n"
}

// openFor opens a session of h, and has read what it said.
func (c *connection) openFor(h *scripted) {
	c.t.Helper()
	c.write(upInit)
	h.answer(upInit, downInit)
	c.until(`"id":0`)
	c.write(upNew)
	h.answer(upNew, downNew)
	c.until(`"id":1`)
}

// begin has a session opened and its first prompt sent. The client has read everything up to there.
func (c *connection) begin(h *scripted) {
	c.t.Helper()
	c.openFor(h)
	c.write(upHello)
	h.await(`"text":"hello"}]}}` + "\n")
}

// A harness may die at any point. The client gets what it still said and the end, nothing is invented, and what is
// known of the session is right.
func TestHarnessDies(t *testing.T) {
	before := func(c *connection, h *scripted) {}
	initialize := func(c *connection, h *scripted) { c.write(upInit); h.await(upInit) }
	turn := func(c *connection, h *scripted) { c.begin(h) }
	for _, tc := range []struct {
		name  string
		up    func(c *connection, h *scripted)
		last  string            // what it says before it dies
		want  string            // what the client gets of that
		state correlation.State // of the session, if there is one
		said  string            // in its turn
	}{
		{name: "at start", up: before},
		{name: "at start, with half a line", up: before, last: `{"jsonrpc":`, want: `{"jsonrpc":`},
		{name: "at start, with noise", up: before, last: "panic: no\n", want: ""},
		{name: "on initialize", up: initialize},
		{name: "in the initialize response", up: initialize, last: strings.TrimSuffix(downInit, "}\n"), want: strings.TrimSuffix(downInit, "}\n")},
		{name: "mid-turn", up: turn, last: chunk("s1", "I beg"), want: chunk("s1", "I beg"), state: correlation.Doubt, said: "I beg"},
		{name: "mid-turn, silently", up: turn, state: correlation.Doubt},
		{name: "mid-turn, in a frame", up: turn, last: chunk("s1", "I beg") + `{"jsonrpc":"2.0","method":"session/upd`,
			want: chunk("s1", "I beg") + `{"jsonrpc":"2.0","method":"session/upd`, state: correlation.Doubt,
			said: "I beg"},
		{name: "in the prompt's response", up: turn, last: strings.TrimSuffix(downEnd, "}}\n"), want: strings.TrimSuffix(downEnd, "}}\n"), state: correlation.Doubt},
		{name: "after a response without line end", up: turn, last: strings.TrimSuffix(downEnd, "\n"), want: strings.TrimSuffix(downEnd, "\n"), state: correlation.Done},
		{name: "mid-turn, with noise", up: turn, last: "Aborted (core dumped)\n1\n", want: "", state: correlation.Doubt},
		{name: "mid-turn, with invalid UTF-8", up: turn, last: chunk("s1", "ok") +
			"{\"method\":\"_x\",\"params\":\"\xff\xfe\"}\n\xff\xfe\n",
			want: chunk("s1", "ok") + "{\"method\":\"_x\",\"params\":\"\xff\xfe\"}\n", state: correlation.Doubt,
			said: "ok"},
		{name: "after the turn", up: turn, last: downEnd, want: downEnd, state: correlation.Done},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c, h := w.scripted()
			tc.up(c, h)
			h.say(tc.last)
			h.die()
			got := c.collect().all(t)
			same(t, "the client got", got, tc.want)
			c.close()
			if tc.state == "" {
				return
			}
			s := w.session("scripted", "s1")
			if s.State != tc.state {
				t.Errorf("state %q, want %q", s.State, tc.state)
			}
			turns, err := w.store.Turns(t.Context(), s.ID)
			if err != nil || len(turns) != 1 {
				t.Fatalf("turns: %v, %v", turns, err)
			}
			if turns[0].User != "hello" || turns[0].Assistant != tc.said || turns[0].Ended.IsZero() {
				t.Errorf("turn: %+v", turns[0])
			}
		})
	}
}

// Only objects and arrays reach the client; everything else is shown to people, with where it came from.
func TestStrays(t *testing.T) {
	long := strings.Repeat("noise ", wire.BufferSize/4)
	for _, tc := range []struct{ name, line string }{
		{"a number", "1"},
		{"text", `"hello"`},
		{"null", "null"},
		{"a word", "Loading…"},
		{"behind spaces", "  \t7"},
		{"a byte order mark", "\ufeff{}"},
		{"invalid UTF-8", "\xff\xfe\xfd"},
		{"NUL", "\x00"},
		{"long", long},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, h := newWorld(t).scripted()
			got := c.collect()
			h.say(downNew + tc.line + "\r\n" + downEnd + tc.line)
			h.die()
			same(t, "the client got", got.all(t), downNew+downEnd)
			c.close()
			const prefix = "signet-acp-proxy: not a frame, on the harness's stdout: "
			same(t, "people were told", c.talk.String(), prefix+tc.line+"\r\n"+prefix+tc.line+"\n")
		})
	}
}

// What is no stray passes, however odd it is.
func TestOddFramesPass(t *testing.T) {
	odd := "\n\r\n{}\n[]\n  {\"a\":1} \n{\"half\n[{\n{{{{\n" +
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}` + "\n" +
		"{\"id\":0,\"result\":\xff}\n" + `{"jsonrpc":"2.0","id":{"no":"id"},"result":{}}` + "\n" +
		`{"jsonrpc":"2.0","id":[0],"method":"session/update"}` + "\n"
	c, h := newWorld(t).scripted()
	c.begin(h)
	got := c.collect()
	h.say(odd)
	c.write(odd)
	h.await(odd)
	h.die()
	same(t, "the client got", got.all(t), odd)
}

// A harness that answers nothing is the client's to give up: we add no timeout, and everything else goes on meanwhile.
func TestNeverAnswers(t *testing.T) {
	c, h := newWorld(t).scripted()
	c.write(upInit + upNew + upHello)
	h.await(upInit + upNew + upHello)
	h.say(chunk("nobody", "still here"))
	c.until("still here")
	got := c.collect()
	if err := c.in.Close(); err != nil { // the client goes
		t.Fatal(err)
	}
	same(t, "the harness was sent", h.heard.all(t), upInit+upNew+upHello) // and the harness hears of it
	h.say(chunk("nobody", "last words"))
	h.die()
	same(t, "the client got", got.all(t), chunk("nobody", "last words"))
}

// A client that closes only its reading end has gone: the harness is told, may say what it wants, and nothing breaks.
func TestClientClosesStdoutOnly(t *testing.T) {
	for _, memory := range []bool{true, false} {
		t.Run(fmt.Sprintf("memory %t", memory), func(t *testing.T) {
			t.Parallel()
			r, w := pipe(t)
			t.Cleanup(func() { w.Close() })
			r.Close()
			c, h := newWorld(t).scripted(func(o *Options) {
				o.Client.Out = w
				if !memory {
					o.Open = nil
				}
			})
			h.say(chunk("s1", "to nobody"))
			h.heard.all(t) // the end of its stdin
			c.write(upInit)
			for range 100 {
				h.say(chunk("s1", strings.Repeat("more ", 1000)))
			}
			h.die()
			c.collect().all(t)
			if !c.relay.ClientGone() {
				t.Error("the client has not gone")
			}
		})
	}
}

// A client may write to a harness that has died; its own end is not at fault.
func TestClientWritesToTheDead(t *testing.T) {
	for _, memory := range []bool{true, false} {
		t.Run(fmt.Sprintf("memory %t", memory), func(t *testing.T) {
			t.Parallel()
			c, h := newWorld(t).scripted(func(o *Options) {
				if !memory {
					o.Open = nil
				}
			})
			h.hearNoMore()
			for range 100 {
				c.write(upInit + chunk("s1", strings.Repeat("more ", 1000)))
			}
			if c.relay.ClientGone() {
				t.Error("the client has gone")
			}
			h.say(downEnd)
			h.die()
			same(t, "the client got", c.collect().all(t), downEnd)
		})
	}
}

// What must pass untouched and unwatched although it looks like something that is edited.
func TestNotOurs(t *testing.T) {
	for _, tc := range []struct{ name, up, down string }{
		{"batches", "[" + strings.TrimSpace(upNew) + "," + strings.TrimSpace(upHello) + "]\n", "[" + strings.TrimSpace(downNew) + "," + strings.TrimSpace(downEnd) + "]\n"},
		{"id null", strings.Replace(upNew, `"id":1`, `"id":null`, 1) + strings.Replace(upHello, `"id":2`, `"id":null`, 1), strings.Replace(downNew, `"id":1`, `"id":null`, 1)},
		{"no id", strings.Replace(upNew, `"id":1,`, ``, 1) + strings.Replace(upHello, `"id":2,`, ``, 1), ""},
		{"keys in other case", strings.NewReplacer("method", "Method", "params", "Params").Replace(upNew + upHello), downNew + downEnd},
		{"no session", upHello, downEnd},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, h := newWorld(t).scripted()
			c.write(upInit)
			h.answer(upInit, downInit)
			c.until(`"id":0`)
			c.write(tc.up)
			h.await(tc.up)
			got := c.collect()
			h.say(tc.down)
			c.write(upHello) // of a session that we know nothing of
			h.await(tc.up + upHello)
			h.die()
			same(t, "the client got", got.all(t), tc.down)
			same(t, "the harness was sent", h.heard.String(), upInit+tc.up+upHello)
		})
	}
}

// A version that we do not know, or none: everything passes as it is, and that is said once.
func TestOtherVersions(t *testing.T) {
	for version, told := range map[string]int{`3`: 1, `"2"`: 1, `"1"`: 1, `1.5`: 1, `null`: 1, ``: 0} {
		t.Run("version "+version, func(t *testing.T) {
			t.Parallel()
			answer := strings.Replace(downInit, `"protocolVersion":1,`, `"protocolVersion":`+version+`,`, 1)
			if version == "" {
				answer = `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"no"}}` + "\n"
			}
			c, h := newWorld(t).scripted()
			c.write(upInit)
			h.answer(upInit, answer)
			c.until(`"id":0`)
			got := c.collect()
			c.write(upNew)
			h.answer(upNew, downNew)
			c.write(upHello)
			h.answer(upHello, chunk("s1", "hi")+downEnd)
			h.die()
			same(t, "the client got", got.all(t), downNew+chunk("s1", "hi")+downEnd)
			same(t, "the harness was sent", h.heard.String(), upInit+upNew+upHello)
			if n := strings.Count(c.talk.String(), "protocol version"); n != told {
				t.Errorf("told %d times: %s", n, c.talk.String())
			}
		})
	}
}

// A client may send requests before the initialize response is there: they are not edited, but a session that they open
// is one as any other.
func TestBeforeInitialize(t *testing.T) {
	c, h := newWorld(t).scripted()
	c.write(upInit + upNew)
	h.await(upInit + upNew)
	h.say(downInit + downNew)
	c.until(`"sessionId":"s1"`)
	c.write(upHello)
	h.await(markLetters)
	h.say(downEnd)
	c.until("end_turn")

	const second = `{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/tmp/y","mcpServers":[]}}` + "\n"
	c.write(second) // the next session is one as any other
	h.answer(second, `{"jsonrpc":"2.0","id":3,"result":{"sessionId":"s2"}}`+"\n")
	c.until("s2")
	c.write(strings.Replace(upHello, "s1", "s2", 1))
	h.await(`"sessionId":"s2","prompt":[{"type":"text","text":"<` + markLetters)
}

// Both sides number their own requests: one id may be under way in both directions at once.
func TestSameIDBothWays(t *testing.T) {
	w := newWorld(t)
	c, h := w.scripted()
	c.begin(h)
	got := c.collect()
	asked := `{"jsonrpc":"2.0","id":2,"method":"session/request_permission","params":{"sessionId":"s1","options":[]}}` +
		"\n"
	answered := `{"jsonrpc":"2.0","id":2,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}` + "\n"
	h.say(asked)
	c.write(answered) // is not the prompt's response
	h.await(answered)
	h.say(chunk("s1", "thanks") + downEnd)
	h.die()
	same(t, "the client got", got.all(t), asked+chunk("s1", "thanks")+downEnd)
	c.close()
	turns, err := w.store.Turns(t.Context(), w.session("scripted", "s1").ID)
	if err != nil || len(turns) != 1 || turns[0].Assistant != "thanks" || turns[0].Stop != "end_turn" {
		t.Errorf("turns: %+v, %v", turns, err)
	}
}

// The harness's order is the client's: a response before updates that name its session, updates behind the response,
// permission requests among updates, however the bytes arrive.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	c, h := w.scripted()
	c.write(upInit)
	h.answer(upInit, downInit)
	c.until(`"id":0`)
	c.write(upNew)
	h.await(upNew)

	var said strings.Builder
	said.WriteString(downNew)
	for i := range 50 {
		fmt.Fprintf(&said,
			`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":`+
				`{"sessionUpdate":"available_commands_update","availableCommands":[],"n":%d}}}`+"\n", i)
	}
	opened := said.Len()
	for i := range 200 {
		said.WriteString(chunk("s1", fmt.Sprint("call ", i, " ")))
		fmt.Fprintf(&said,
			`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":`+
				`{"sessionUpdate":"tool_call","toolCallId":"c%d","title":"t"}}}`+"\n", i)
		fmt.Fprintf(&said,
			`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s1",`+
				`"toolCall":{"toolCallId":"c%d"},"options":[]}}`+"\n", i, i)
		fmt.Fprintf(&said,
			`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":`+
				`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"%d"}}}}`+"\n", i)
	}
	said.WriteString(downEnd)
	for i := range 50 {
		said.WriteString(chunk("s1", fmt.Sprint("late ", i, " ")))
	}
	all := said.String()

	got := c.collect()
	h.say(all[:opened])
	got.await(t, opened)
	c.write(upHello)
	h.await(`"text":"hello"}]}}` + "\n")
	chance := rand.New(rand.NewPCG(1, 2))
	for rest := all[opened:]; len(rest) > 0; {
		n := min(len(rest), 1+chance.IntN(3000))
		h.say(rest[:n])
		rest = rest[n:]
	}
	h.die()
	same(t, "the client got", got.all(t), all)
	c.close()
	turns, err := w.store.Turns(t.Context(), w.session("scripted", "s1").ID)
	if err != nil || len(turns) != 1 || len(turns[0].Tools) != 200 || turns[0].Stop != "end_turn" {
		t.Fatalf("turns: %+v, %v", turns, err)
	}
	if said := turns[0].Assistant; !strings.HasPrefix(said, "call 0 ") || !strings.Contains(said, "call 199 ") ||
		!strings.Contains(said, "late 0 late 1 ") || !strings.HasSuffix(said, "late 49 ") {
		t.Errorf("the turn says %q … %q", clip(said), said[max(0, len(said)-60):])
	}
}
