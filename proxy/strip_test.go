package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// told returns a world with session s1, which was given its context, and the exact text of that.
func told(t *testing.T) (w *world, block string) {
	t.Helper()
	w = newWorld(t)
	c := w.start(newSource(), echo(), longLimits)
	c.open()
	c.call(1, "session/new", cwd)
	c.prompt(2, "s1", "  what the user asked first, in so many words that a title of eighty characters cannot hold "+
		"them all")
	block = c.blocks(0)[0]
	c.close()
	return w, block
}

// shown returns what a client gets when the harness says lines while it loads s1.
func shown(t *testing.T, w *world, lines ...string) []string {
	t.Helper()
	plain := echo()
	c := w.start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) == "session/load" {
			for _, l := range lines {
				say("%s", l)
			}
		}
		plain(f, line, say)
	}, longLimits)
	c.open()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/tmp/x",` +
		`"mcpServers":[]}}`)
	got := c.until(`"id":1,`)
	c.close()
	return got[:len(got)-1]
}

// escaped is text as a JSON string in which everything that an encoder may escape is.
func escaped(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case strings.ContainsRune("<>&\"'\\/", r) || r < ' ' || r > '~':
			if r > 0xffff {
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04X\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func unescaped(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text)
	return strings.TrimSpace(b.String())
}

// chunkOf is a frame that shows a user's words, in unusual spelling around them.
func chunkOf(token string) string {
	return `{"method":"session/update" , "params":{"update":{"content":{"text":` + token +
		`,"type":"text","annotations":{"x":1.0}},"sessionUpdate":"user_message_chunk"},"sessionId":"s1","_meta":{"n":1e2}},"jsonrpc":"2.0"}`
}

// Our block goes from what the harness shows of a user's turn, in every form that harnesses have; every other byte
// stays.
func TestStripChunks(t *testing.T) {
	w, block := told(t)
	bare := strings.TrimRight(block, "\n")
	tests := []struct{ name, text, left string }{
		{"alone", block, ""},
		{"alone, trimmed", bare, ""},
		{"alone, with a line end more", block + "\n", ""},
		{"behind white space", "\n  " + block, ""},
		{"in folded white space", strings.Join(strings.Fields(block), " "), ""},
		{"with other line ends", strings.ReplaceAll(bare, "\n", "\r\n"), ""},
		{"glued with nothing", block + "hello", "hello"},
		{"glued with a space", block + " hello", "hello"},
		{"glued with a newline", block + "\nhello", "hello"},
		{"trimmed and glued with nothing", bare + "hello", "hello"},
		{"trimmed and glued with a space", bare + " hello", "hello"},
		{"trimmed and glued with a newline", bare + "\nhello", "hello"},
		{"with words in other scripts", block + "日本語 🙂 é <b>&\"\\/", "日本語 🙂 é <b>&\"\\/"},
		{"inside itself", block + block + "hello", block + "hello"},
		{"behind words", "hello " + block, "hello " + block},
		{"unclosed", strings.TrimSuffix(bare, "</signet-memory>") + "hello", strings.TrimSuffix(bare, "</signet-memory>") + "hello"},
		{"cut off", bare[:len(bare)-3], bare[:len(bare)-3]},
		{"another id", strings.Replace(block, `id="`, `id="0`, 1) + "hello", strings.Replace(block, `id="`, `id="0`, 1) + "hello"},
		{"another body", strings.Replace(block, "tabs", "spaces", 1), strings.Replace(block, "tabs", "spaces", 1)},
		{"in capitals", strings.ToUpper(block), strings.ToUpper(block)},
		{"somebody's mark", "<signet-memory>mine</signet-memory> hello", "<signet-memory>mine</signet-memory> hello"},
		{"talk of it", "what is signet-memory?", "what is signet-memory?"},
		{"nothing", "", ""},
	}
	for _, spell := range []struct {
		name  string
		token func(string) string
	}{{"escaped", escaped}, {"unescaped", unescaped}, {"as Go escapes",
		func(s string) string { return string(quote(s)) }}} {
		for _, tt := range tests {
			t.Run(tt.name+", "+spell.name, func(t *testing.T) {
				t.Parallel()
				got := shown(t, w, chunkOf(spell.token(tt.text)), chunkOf(`"next"`))
				want := []string{chunkOf(spell.token(tt.left)), chunkOf(`"next"`)}
				if tt.left == "" && tt.text != "" {
					want = want[1:]
				}
				if !slices.Equal(got, want) {
					t.Errorf("the client gets\n%q, want\n%q", got, want)
				}
			})
		}
	}
}

// Each block went in once and is cut once: a copy is what the user sent, and stays. A new load shows it all again.
func TestStripOnce(t *testing.T) {
	w, block := told(t)
	first, copied := chunkOf(unescaped(block)), chunkOf(unescaped(block+"look what it said"))
	if got := shown(t, w, first, chunkOf(`"hello"`), copied); !slices.Equal(got, []string{chunkOf(`"hello"`), copied}) {
		t.Errorf("the client gets %q", got)
	}
}

// What is no user's turn may hold our words, and is not ours to change.
func TestStripOthers(t *testing.T) {
	w, block := told(t)
	q := unescaped(block)
	lines := []string{
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + q + `}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":` + q + `}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"1","title":` + q + `}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"plan","entries":[{"content":` + q + `}]}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message_chunk","content":{"type":"resource","resource":{"text":` + q + `}}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message_chunk","content":[` + q + `]}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message_chunk"},"text":` + q + `}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":` + q + `}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"session_info_update","title":null,"x":` + q + `}}}`,
		`{"jsonrpc":"2.0","id":"x","method":"session/request_permission","params":{"sessionId":"s1",` +
			`"toolCall":{"title":` +
			q + `}}}`,
	}
	if got := shown(t, w, lines...); !slices.Equal(got, lines) {
		for i := range got {
			if i >= len(lines) || got[i] != lines[i] {
				t.Errorf("line %d: %q", i, got[i])
			}
		}
		t.Errorf("%d of %d lines", len(got), len(lines))
	}
}

// A replay of 100,000 turns costs what its bytes cost: no frame waits for the database.
func TestLongReplay(t *testing.T) {
	w, block := told(t)
	n := 100_000
	if testing.Short() {
		n = 10_000
	}
	plain := echo()
	asked := 0
	c := w.start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) == "session/load" {
			say("%s", chunkOf(unescaped(block)))
			var b strings.Builder
			for i := range n {
				text := "a turn"
				if i%10 == 0 {
					text = "a turn about signet-memory"
				}
				fmt.Fprintf(&b, "%s\n", userChunk("s1", text))
				if b.Len() > 64<<10 {
					say("%s", strings.TrimSuffix(b.String(), "\n"))
					b.Reset()
				}
			}
			say("%s%s", b.String(), userChunk("s1", "the last turn"))
		}
		plain(f, line, say)
	}, longLimits, func(o *Options) {
		open := o.Open
		o.Open = func(ctx context.Context) (*Backend, error) {
			b, err := open(ctx)
			b.Ledger = counted{b.Ledger, &asked}
			return b, err
		}
	})
	c.open()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/tmp/x",` +
		`"mcpServers":[]}}`)
	lines := 0
	for line := ""; !strings.Contains(line, `"id":1,`); lines++ {
		var err error
		if line, err = c.out.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	c.close()
	if lines != n+2 {
		t.Errorf("%d lines arrived", lines)
	}
	if asked > 4 {
		t.Errorf("the ledger was asked %d times", asked)
	}
}

// counted counts the questions to a ledger. All come from one goroutine.
type counted struct {
	Ledger
	n *int
}

func (c counted) Find(ctx context.Context, harness, id string) (correlation.Session, error) {
	*c.n++
	return c.Ledger.Find(ctx, harness, id)
}

func (c counted) Injections(ctx context.Context, id int64) ([]correlation.Injection, error) {
	*c.n++
	return c.Ledger.Injections(ctx, id)
}
