package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

// told gives a world with session s1, which was given its context, and the exact text of that.
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

// shown gives what a client gets when the harness says lines while it loads s1.
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
	c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/tmp/x","mcpServers":[]}}`)
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
		`{"jsonrpc":"2.0","id":"x","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"title":` +
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

// Titles are made of first prompts, whole or cut off. What is all ours becomes what the user asked.
func TestStripTitles(t *testing.T) {
	w, block := told(t)
	const asked = "what the user asked first, in so many words that a title of eighty characters ca"
	bare := strings.TrimRight(block, "\n")
	folded := strings.Join(strings.Fields(block), " ")
	tests := []struct{ name, title, left string }{
		{"whole", bare, asked},
		{"whole, folded", folded, asked},
		{"whole, and the user's words", bare + "\n\nhello", "hello"},
		{"folded, and the user's words", folded + " hello", "hello"},
		{"cut off", bare[:60], asked},
		{"cut off, folded", folded[:100], asked},
		{"cut off with dots", bare[:60] + "...", asked},
		{"cut off with an ellipsis", bare[:60] + "…", asked},
		{"cut off in a character", bare[:60] + "\ufffd", asked},
		{"cut off in our mark", bare[:10], bare[:10]}, // too little to know it by
		{"somebody's", "<signet-memory>mine</signet-memory>", "<signet-memory>mine</signet-memory>"},
		{"in the middle", "About " + bare[:60], "About " + bare[:60]},
		{"about it", "What signet-memory is", "What signet-memory is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			info := func(title string) string {
				return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"session_info_update","updatedAt":"x","title":` + unescaped(title) + `}}}`
			}
			if got := shown(t, w, info(tt.title)); !slices.Equal(got, []string{info(tt.left)}) {
				t.Errorf("the client gets %q", got)
			}
		})
	}
}

// A harness that makes its title of the beginning of a first prompt makes it of our block alone where that is long: the
// person's words are the title, wherever that one is shown. Where they were seen, where the client has given a name,
// and where a later title comes, it stays.
func TestTitleOfBlockAlone(t *testing.T) {
	const words = "How long is the mast?"
	info := func(title string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"session_info_update","title":` + unescaped(title) + `}}}`
	}
	for _, tt := range []struct {
		name     string
		identity int    // characters of it
		says     string // the client, before the title comes
		first    string // what the client sees of the first title, and in the next process
		second   string // of the second one
	}{
		{"long", 5000, "", words, "Masts"},
		{"short", 100, "", "Clerk of a yard", "Masts"},
		{"named", 5000, `{"jsonrpc":"2.0","id":7,"method":"session/set_title","params":{"sessionId":"s1","title":"Clerk of a yard"}}`, "Clerk of a yard", "Masts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, plain := newWorld(t), echo()
			titles := make(chan string, 2)
			harness := func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
				switch method(f) {
				case "session/prompt", "session/load":
					for len(titles) > 0 {
						say("%s", info(<-titles))
					}
				case "session/list":
					say(`{"jsonrpc":"2.0","id":%s,"result":{"sessions":[{"sessionId":"s1","title":"Clerk of a yard"},{"sessionId":"s2","title":"Clerk of a yard"}]}}`, f["id"])
					return
				}
				plain(f, line, say)
			}
			shortens := func(o *Options) {
				longLimits(o)
				o.Traits = func(string) session.Traits { return session.Traits{TitleLength: 4000} }
			}
			mem := newSource()
			mem.context.Identity = strings.Repeat("x", tt.identity)
			c := w.start(mem, harness, shortens)
			c.open()
			c.call(1, "session/new", cwd)
			c.prompt(2, "s1", words)
			if tt.says != "" {
				c.send("%s", tt.says)
				c.until(`"id":7,`)
			}
			for i, want := range []string{tt.first, tt.second} {
				titles <- []string{"Clerk of a yard", "Masts"}[i]
				c.sendPrompt(3+i, "s1", "more")
				if got := c.until(fmt.Sprintf(`"id":%d,`, 3+i)); !slices.Contains(got, info(want)) {
					t.Errorf("title %d: the client gets\n%s, want %s", i, strings.Join(got, "\n"), want)
				}
			}
			listed := c.call(5, "session/list", `{}`)
			for tt.first == words && w.titles() == 0 { // the title is noted beside the conversation
				time.Sleep(time.Millisecond)
			}
			c.close()

			c = w.start(newSource(), harness, shortens)
			c.open()
			titles <- "Clerk of a yard"
			c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/tmp/x","mcpServers":[]}}`)
			if got := c.until(`"id":1,`); !slices.Contains(got, info(tt.first)) {
				t.Errorf("loaded, the client gets\n%s", strings.Join(got, "\n"))
			}
			for _, list := range []string{listed, c.call(5, "session/list", `{}`)} {
				want := fmt.Sprintf(`{"sessionId":"s1","title":%q},{"sessionId":"s2","title":"Clerk of a yard"}`, tt.first)
				if !strings.Contains(list, want) {
					t.Errorf("the list is\n%s, want\n%s", list, want)
				}
			}
			c.close()
		})
	}
}

// titles counts the blocks of which the database knows that a title was made of them.
func (w *world) titles() (n int) {
	w.t.Helper()
	if err := w.db.QueryRow(`SELECT count(*) FROM injections WHERE title <> ''`).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// A list of sessions shows titles and previews of sessions that this connection never opened.
func TestStripList(t *testing.T) {
	w, block := told(t)
	const asked = `"what the user asked first, in so many words that a title of eighty characters ca"`
	result := func(title, preview, own string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"sessions":[{"sessionId":"s0","title":` + unescaped(block) +
			`},{"title":` + title +
			`,"_meta":{"preview":` + preview + `,"n":1.0},"sessionId":"s1"},{"sessionId":"s1","preview":` + own +
			`},{"title":null},7],"nextCursor":null}}`
	}
	plain := echo()
	c := w.start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) == "session/list" {
			say("%s", result(escaped(block[:70]), unescaped(block+"hello"), unescaped("untouched")))
			return
		}
		plain(f, line, say)
	}, longLimits)
	c.open()
	got := c.call(1, "session/list", `{}`)
	if want := result(asked, `"hello"`, `"untouched"`); got != want {
		t.Errorf("the client gets\n%s, want\n%s", got, want)
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
	c.send(`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/tmp/x","mcpServers":[]}}`)
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

const sampleBlock = "<signet-memory source=\"acp-proxy\" id=\"3f9c0a71d2be\">\nAdded by signet-acp-proxy from the " +
	"user's own memory; not part of the user's message.\n" +
	"## Identity\nYou are Alto.\n## Memories\n- (2026-10-03) Robin likes <b>tabs</b> & \"quotes\"; 日本語 " +
	"🙂\n</signet-memory>\n\n"

// What is cut is the block, white space folded, and no more than one separator; nothing is ever cut from the middle.
func FuzzLeadingBlock(f *testing.F) {
	for _, text := range []string{sampleBlock, sampleBlock + "hello", strings.TrimSpace(sampleBlock) + " hello",
		sampleBlock + sampleBlock, sampleBlock[:50], "hello", "", " ", "\n" + sampleBlock} {
		f.Add(text, sampleBlock)
	}
	f.Add("a b", "a  b\n\n")
	f.Add("", "")
	f.Add("\xff\xc3", "\xff")
	fold := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	f.Fuzz(func(t *testing.T, text, block string) {
		if strings.TrimSpace(block) == "" {
			return // no block is empty
		}
		n := session.LeadingBlock(text, block)
		if n < 0 || n > len(text) {
			t.Fatalf("%d of %d bytes", n, len(text))
		}
		if n > 0 && fold(text[:n]) != fold(block) {
			t.Errorf("%q is cut, which is not %q", text[:n], block)
		}
		if whole := strings.HasPrefix(text, block); whole && n < len(block) {
			t.Errorf("%q is cut of %q", text[:n], text)
		}
		if n > 0 {
			if rest := len(text[:n]) - len(strings.TrimRight(text[:n], " \n\t\r\v\f\u0085\u00a0")); rest > len(block)+1 {
				t.Errorf("%d bytes of white space are cut", rest)
			}
		}
		if p, whole := session.FoldedPrefix(text, block); p < 0 || p > len(text) || whole && p == 0 {
			t.Errorf("prefix of %d bytes", p)
		}
		if cut := titleCut(text, []*session.Injection{{Injection: correlation.Injection{Text: block}}}); cut != 0 &&
			cut != n && cut != len(text) {
			t.Errorf("%d bytes of a title are cut", cut)
		}
	})
}

// nowhere is a file of events that there is not.
type nowhere struct{ Events }

func (nowhere) Flush(context.Context) error             { return nil }
func (nowhere) Folded(context.Context) error            { return nil }
func (nowhere) Row(context.Context, int) (int64, error) { return 0, correlation.ErrNotFound }

// The whole way of a chunk: what arrives is the frame as it was, or the frame without our block, or nothing where
// there was nothing else.
func FuzzChunk(f *testing.F) {
	for _, text := range []string{sampleBlock, sampleBlock + "hello", sampleBlock + " \u00e9", "hello",
		strings.TrimSpace(sampleBlock)} {
		f.Add([]byte(chunkOf(escaped(text))))
		f.Add([]byte(chunkOf(unescaped(text))))
		f.Add([]byte(userChunk("s1", text)))
		f.Add([]byte(update("s1", `{"sessionUpdate":"session_info_update","title":`+unescaped(text)+`}`)))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message_chunk","content":{"text":1}}}}`))
	f.Add([]byte(`{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message_chunk","content":{"text":"` + "\xff" + `"}}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 || len(line) > 1<<16 {
			return
		}
		r := New(Options{Client: Client{Talk: &bytes.Buffer{}}})
		defer r.cancel()
		close(r.down.stripper.database.opened)
		close(r.recorder.stopped) // it never ran
		r.recorder.events, r.database.events = nowhere{}, nowhere{}
		block := correlation.Injection{Session: 1, Kind: session.KindContext, Text: sampleBlock}
		var given []*session.Injection
		r.table.Update(func(c *session.Connection) {
			s := c.Reopen("s1", "")
			c.Adopt(s, correlation.Session{ID: 1, State: correlation.Done}, []correlation.Injection{block})
			s.EndReplay()
			given = s.Given()
			close(s.Ready)
		})
		r.editing.Store(true)
		var out bytes.Buffer
		d := r.down
		d.out = &out
		in := append(bytes.Clone(line), '\n')
		if err := wire.Pump(bytes.NewReader(in), d); err != nil {
			t.Fatal(err)
		}
		got := out.Bytes()
		if bytes.Equal(got, in) {
			return
		}
		if !frame.Valid(line) { // no frame: with people, or as it was
			if len(got) != 0 {
				t.Fatalf("%q became %q", in, got)
			}
			return
		}
		text, isText := stringAt(line, "params", "update", "content", "text")
		if title, ok := stringAt(line, "params", "update", "title"); ok && titleCut(title, given) > 0 {
			isText, text = true, title
		}
		if !isText {
			if head := bytes.TrimLeft(line, " \t\r"); len(got) == 0 && (len(head) == 0 || head[0] != '{' && head[0] != '[') {
				return
			}
			t.Fatalf("%q became %q", in, got)
		}
		if len(got) == 0 {
			if session.LeadingBlock(text, sampleBlock) != len(text) {
				t.Fatalf("%q is gone", in)
			}
			return
		}
		if !frame.Valid(got) || bytes.Count(got, []byte("\n")) != 1 {
			t.Fatalf("%q became %q", in, got)
		}
		var before, after map[string]any
		if json.Unmarshal(line, &before) != nil || json.Unmarshal(got, &after) != nil {
			t.Fatalf("%q became %q", in, got)
		}
		rest, _ := stringAt(got, "params", "update", "content", "text")
		if title, ok := stringAt(got, "params", "update", "title"); ok && rest == "" {
			rest = title
		}
		if rest != "" && !strings.HasSuffix(text, rest) {
			t.Fatalf("of %q is left %q", text, rest)
		}
	})
}
