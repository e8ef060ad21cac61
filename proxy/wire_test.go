package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
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
			turns, err := w.store.Book().Turns(t.Context(), s.ID)
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
	for name, line := range map[string]string{
		"a number": "1", "text": `"hello"`, "null": "null", "a word": "Loading…", "behind spaces": "  \t7",
		"a byte order mark": "\ufeff{}", "invalid UTF-8": "\xff\xfe\xfd", "NUL": "\x00",
		"long": strings.Repeat("noise ", 64<<10),
	} {
		q := newQuiet(t)
		if got := q.says(t, downNew+line+"\r", downEnd+line); got != downNew+strings.TrimSpace(downEnd) {
			t.Errorf("%s: the client got %s", name, clip(got))
		}
		const prefix = "signet-acp-proxy: not a frame, on the agent's stdout: "
		same(t, "people were told", q.told.String(), prefix+line+"\r\n"+prefix+line+"\n")
		if q.down.strays != 2 {
			t.Errorf("%s: %d strays", name, q.down.strays)
		}
	}
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
	up, down := strings.TrimSpace(upNew), strings.TrimSpace(downNew)
	for name, tt := range map[string]struct{ up, down string }{
		"batches":            {"[" + up + "," + up + "]", "[" + down + "," + down + "]"},
		"id null":            {strings.Replace(up, `"id":1`, `"id":null`, 1), strings.Replace(down, `"id":1`, `"id":null`, 1)},
		"no id":              {strings.Replace(up, `"id":1,`, ``, 1), down},
		"keys in other case": {strings.NewReplacer("method", "Method", "params", "Params").Replace(up), down},
	} {
		q := newQuiet(t, func(o *Options) {
			o.MCPServer = func(string, func() memory.Session) ([]byte, func()) { return []byte(`{"name":"signet"}`), nil }
		})
		if got := q.sends(t, tt.up); got != tt.up {
			t.Errorf("%s: the harness was sent %s", name, got)
		}
		if got := q.says(t, strings.Replace(tt.down, "s1", "s2", 1)); got != strings.Replace(tt.down, "s1", "s2", 1) {
			t.Errorf("%s: the client got %s", name, got)
		}
		if q.session("s2") != nil {
			t.Errorf("%s: a session was opened", name)
		}
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
