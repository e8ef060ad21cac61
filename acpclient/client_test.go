package acpclient

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// heard is a handler that notes what comes, in order.
type heard struct{ all []string }

func (h *heard) Update(u Update) { h.all = append(h.all, u.Kind+" "+u.Content.Text+u.Title) }
func (h *heard) Allow(c ToolCall, answer func(bool)) {
	h.all = append(h.all, "may it "+string(c.ToolKind))
	answer(c.ToolKind == "read")
}

// A peer is the other side, line by line.
type peer struct {
	*Conn
	t    *testing.T
	in   *bufio.Reader  // what the client says
	out  *io.PipeWriter // what it hears
	done chan struct{}
}

func newPeer(t *testing.T, h Handler) *peer {
	t.Helper()
	in, toPeer := io.Pipe()
	fromPeer, out := io.Pipe()
	p := &peer{Conn: New(toPeer, h), t: t, in: bufio.NewReader(in), out: out, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.Read(fromPeer)
	}()
	t.Cleanup(func() {
		out.Close()
		<-p.done
		toPeer.Close()
		in.Close()
		p.WaitWrites()
	})
	return p
}

func (p *peer) say(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.out, line+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *peer) hear(want string) {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		p.t.Errorf("it says %s, %v\nwant    %s", line, err, want)
	}
}

// What the agent said before it answered was handled before the answer is given, whatever stood between.
func TestOrder(t *testing.T) {
	h := &heard{}
	p := newPeer(t, h)
	turn := make(chan error, 1)
	var got Turn
	go func() {
		var err error
		got, err = p.Prompt(t.Context(), "s", "<hi>")
		turn <- err
	}()
	p.hear(`{"jsonrpc":"2.0","id":1,"method":"session/prompt",` +
		`"params":{"prompt":[{"text":"\u003chi\u003e","type":"text"}],"sessionId":"s"}}`)
	const n = 3000 // more than the SDK's queue holds
	for i := range n {
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":`+
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}}}`, i))
	}
	p.say(`no JSON`, ``, `[]`, `{"id":99,"result":{}}`, `{"id":1`, "\x00\xff", `{"method":7}`,
		`{"id":"q","method":"fs/read_text_file","params":{}}`)
	p.hear(`{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"method not found"}}`)
	options := `"options":[{"optionId":"always","kind":"allow_always"},{"optionId":"yes","kind":"allow_once"},` +
		`{"optionId":"no","kind":"reject_once"}]`
	p.say(`{"id":0,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c","kind":"read"},` +
		options + `}}`)
	p.hear(`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"optionId":"yes","outcome":"selected"}}}`)
	p.say(`{"id":1,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c","kind":"edit"},` +
		options + `}}`)
	p.hear(`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"optionId":"no","outcome":"selected"}}}`)
	p.say(`{"id":2,"method":"session/request_permission","params":{"toolCall":{"kind":"read"},` +
		`"options":[{"optionId":"a","kind":"allow_always"}]}}`)
	p.hear(`{"jsonrpc":"2.0","id":2,"result":{"outcome":{"outcome":"cancelled"}}}`)
	p.say(`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn",` +
		`"usage":{"inputTokens":3,"outputTokens":4,"totalTokens":7}}}`)
	if err := <-turn; err != nil || got.Stop != "end_turn" {
		t.Errorf("%+v, %v", got, err)
	}
	if tokens, ok := got.Tokens(); tokens != 7 || !ok {
		t.Errorf("%d tokens, %v", tokens, ok)
	}
	if len(h.all) != n+3 || h.all[n-1] != fmt.Sprintf("agent_message_chunk %d", n-1) || h.all[n] != "may it read" {
		t.Errorf("%d things in order, the last %q", len(h.all), h.all[max(0, len(h.all)-4):])
	}
}

func TestFailures(t *testing.T) {
	t.Run("login", func(t *testing.T) {
		p := newPeer(t, &heard{})
		go func() {
			_, _ = p.in.ReadString('\n')
			p.say(`{"id":1,"error":{"code":-32000,"message":"Authentication required"}}`)
		}()
		if _, err := p.NewSession(t.Context(), "/"); !NeedsLogin(err) {
			t.Error(err)
		}
	})
	t.Run("an error that is none", func(t *testing.T) {
		p := newPeer(t, &heard{})
		go func() {
			_, _ = p.in.ReadString('\n')
			p.say(`{"id":1,"error":"broken"}`)
		}()
		if _, err := p.NewSession(t.Context(), "/"); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Error(err)
		}
	})
	t.Run("it ends", func(t *testing.T) {
		p := newPeer(t, &heard{})
		go func() {
			_, _ = p.in.ReadString('\n')
			p.out.Close()
		}()
		if _, err := p.Initialize(t.Context(), "v"); !errors.Is(err, ErrEnded) {
			t.Error(err)
		}
		if _, err := p.Initialize(t.Context(), "v"); !errors.Is(err, ErrEnded) {
			t.Error(err)
		}
	})
	t.Run("it does not read", func(t *testing.T) {
		p := newPeer(t, &heard{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Initialize(ctx, "v"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		p.Cancel("s")
	})
	t.Run("a line that is too long", func(t *testing.T) {
		p := newPeer(t, &heard{})
		go func() {
			_, _ = p.in.ReadString('\n')
			p.say(strings.Repeat("x", maxLine+100), `{"id":1,"result":{"sessionId":"s"}}`)
		}()
		if s, err := p.NewSession(t.Context(), "/"); err != nil || s.ID != "s" {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// Whatever an agent says, it is read to its end.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call",` +
		`"content":[{"type":"diff","path":"a"}],"locations":null}}}`))
	f.Add([]byte(`{"id":1,"method":"session/request_permission","params":{"toolCall":{"content":7},"options":{}}}` +
		"\n\n{"))
	f.Add([]byte(`{"id":null,"error":{"code":"x"}}` + "\n" + `{"id":1,"result":[]}`))
	f.Fuzz(func(t *testing.T, said []byte) {
		c := New(io.Discard, &heard{})
		c.Read(bytes.NewReader(said))
		if err := c.call(t.Context(), "m", nil, nil); !errors.Is(err, ErrEnded) {
			t.Error(err)
		}
	})
}

// What is sent, word for word, and what is made of the answer.
func TestMessages(t *testing.T) {
	ctx := t.Context()
	var can, resumes Agent
	can.Capabilities.Load, resumes.Capabilities.Session.Resume = true, &struct{}{}
	tokens := func(p *peer) (any, error) {
		turn, err := p.Prompt(ctx, "s", "hi")
		n, ok := turn.Tokens()
		return fmt.Sprint(turn.Stop, n, ok), err
	}
	const prompt = `"method":"session/prompt"`
	for _, tt := range []struct {
		name, sent, answer string
		call               func(p *peer) (any, error)
		want               any
		refused            string
	}{
		{"initialize", `"method":"initialize","params":{"clientCapabilities":{"auth":{},"fs":{}},"clientInfo":{"name":"signet-acp-proxy","version":"v"},"protocolVersion":1}`,
			`"result":{"protocolVersion":1,"agentInfo":{"name":"a","version":"2"}}`,
			func(p *peer) (any, error) {
				a, err := p.Initialize(ctx, "v")
				return a.Info.Name + a.Info.Version, err
			}, "a2", ""},
		{"an answer of another shape", `"method":"initialize"`, `"result":{"protocolVersion":"one"}`,
			func(p *peer) (any, error) { a, err := p.Initialize(ctx, "v"); return a.ProtocolVersion, err }, 0, "reading the agent's answer to initialize"},
		{"load", `"method":"session/load","params":{"cwd":"/d","mcpServers":[],"sessionId":"s"}`, `"result":{"modes":{"availableModes":[{"id":"plan"}]}}`,
			func(p *peer) (any, error) {
				s, err := p.Reopen(ctx, can, "s", "/d")
				return fmt.Sprint(s.ID, s.HasMode("plan"), s.HasMode(""), s.HasMode("code")), err
			}, "strue false false", ""},
		{"resume", `"method":"session/resume"`, `"result":null`,
			func(p *peer) (any, error) { s, err := p.Reopen(ctx, resumes, "s", "/d"); return s.ID, err }, "s", ""},
		{"a mode", `"method":"session/set_mode","params":{"modeId":"plan","sessionId":"s"}`, `"error":{"code":-32602,"message":"no","data":{"a":1}}`,
			func(p *peer) (any, error) { return nil, p.SetMode(ctx, "s", "plan") }, nil, `no {"a":1} (-32602)`},
		{"no data", `"method":"session/set_mode"`, `"error":{"code":1,"message":"no","data":null}`,
			func(p *peer) (any, error) { return nil, p.SetMode(ctx, "s", "plan") }, nil, `no (1)`},
		{"no error", `"method":"session/set_mode"`, `"error":null,"result":{}`,
			func(p *peer) (any, error) { return nil, p.SetMode(ctx, "s", "plan") }, nil, ""},
		{"no tokens", prompt, `"result":{"stopReason":"end_turn"}`, tokens, "end_turn0 false", ""},
		{"a sum", prompt, `"result":{"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":4}}`, tokens, "end_turn7 true", ""},
		{"none used", prompt, `"result":{"stopReason":"end_turn","usage":{}}`, tokens, "end_turn0 true", ""},
		{"gemini's", prompt, `"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":3,"output_tokens":4}}}}`, tokens, "end_turn7 true", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t, &heard{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				got, err := tt.call(p)
				if got != tt.want || (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("%v, %v", got, err)
				}
			}()
			line, err := p.in.ReadString('\n')
			if err != nil || !strings.Contains(line, tt.sent) {
				t.Errorf("it says %s, %v\nwant    %s", line, err, tt.sent)
			}
			p.say(`{"id":1,` + tt.answer + `}`)
			<-done
		})
	}
	p := newPeer(t, &heard{})
	p.Cancel("s")
	p.hear(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	if (Agent{}).Reopens() || !can.Reopens() || !resumes.Reopens() {
		t.Error("who opens a session again")
	}
}

// What an agent says that is no message is kept: the first of it, cut.
func TestNoise(t *testing.T) {
	c := New(io.Discard, &heard{})
	c.Read(strings.NewReader("\n{\"id\":1}\n" + strings.Repeat("n", maxNoise+1) + "\nmore\n"))
	if got := c.Noise(); got != strings.Repeat("n", maxNoise) {
		t.Errorf("%d bytes: %.20q", len(got), got)
	}
	for length, read := range map[int]bool{maxLine - 1: true, maxLine: false} { // and the line's end
		c := New(io.Discard, &heard{})
		if c.Read(strings.NewReader(strings.Repeat("n", length) + "\n")); (c.Noise() != "") != read {
			t.Errorf("a line of %d bytes is read: %v", length+1, !read)
		}
	}
}
