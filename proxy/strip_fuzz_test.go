package proxy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/proxy/frame"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
	"github.com/Signet-AI/signet-acp-proxy/proxy/wire"
)

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
			if rest := len(text[:n]) - len(strings.TrimRight(text[:n],
				" \n\t\r\v\f\u0085\u00a0")); rest > len(block)+1 {
				t.Errorf("%d bytes of white space are cut", rest)
			}
		}
		if p, whole := session.FoldedPrefix(text, block); p < 0 || p > len(text) || whole && p == 0 {
			t.Errorf("prefix of %d bytes", p)
		}
		ours := []*session.Injection{{Injection: correlation.Injection{Text: block}}}
		if cut := titleBlockLength(text, ours); cut != 0 && cut != n && cut != len(text) {
			t.Errorf("%d bytes of a title are cut", cut)
		}
	})
}

// The whole way of a chunk: what arrives is the frame as it was, or the frame without our block, or nothing where there
// was nothing else.
func FuzzChunk(f *testing.F) {
	for _, text := range []string{sampleBlock, sampleBlock + "hello", sampleBlock + " \u00e9", "hello",
		strings.TrimSpace(sampleBlock)} {
		f.Add([]byte(chunkOf(escaped(text))))
		f.Add([]byte(chunkOf(unescaped(text))))
		f.Add([]byte(userChunk("s1", text)))
		f.Add([]byte(update("s1", `{"sessionUpdate":"session_info_update","title":`+unescaped(text)+`}`)))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` +
		`{"sessionUpdate":"user_message_chunk","content":{"text":1}}}}`))
	f.Add([]byte(`{"method":"session/update","params":{"sessionId":"s1","update":` +
		`{"sessionUpdate":"user_message_chunk","content":{"text":"` + "\xff" + `"}}}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 || len(line) > 1<<16 {
			return
		}
		q := newQuiet(t).opened()
		var given []*session.Injection
		q.talk.Do(func(c *session.Connection) { given = c.Given("s1").Blocks })
		in := append(bytes.Clone(line), '\n')
		if err := wire.Pump(bytes.NewReader(in), q.down); err != nil {
			t.Fatal(err)
		}
		got := q.client.Bytes()
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
		if title, ok := stringAt(line, "params", "update", "title"); ok && titleBlockLength(title, given) > 0 {
			isText, text = true, title
		}
		if !isText {
			if head := bytes.TrimLeft(line, " \t\r"); len(got) == 0 &&
				(len(head) == 0 || head[0] != '{' && head[0] != '[') {
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
