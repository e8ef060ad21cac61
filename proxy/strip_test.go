package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

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

// Our block goes from what the harness shows of a user's turn, in every spelling of JSON; every other byte stays. How a
// block is known again package session says.
func TestStripChunks(t *testing.T) {
	folded := strings.Join(strings.Fields(sampleBlock), " ")
	for _, tt := range []struct{ name, text, left string }{
		{"alone", sampleBlock, ""},
		{"glued with nothing", sampleBlock + "hello", "hello"},
		{"folded, and glued with a space", folded + " hello \\ \u00e9 😀\x00", "hello \\ \u00e9 😀\x00"},
		{"with other line ends", strings.ReplaceAll(strings.TrimSpace(sampleBlock), "\n", "\r\n") + "hello", "hello"},
		{"in the middle", "hello " + sampleBlock, "hello " + sampleBlock},
		{"another body", strings.Replace(sampleBlock, "Alto", "Bass", 1), strings.Replace(sampleBlock, "Alto", "Bass", 1)},
		{"talk of it", "what is signet-memory?", "what is signet-memory?"},
		{"nothing", "", ""},
	} {
		for _, spelled := range []func(string) string{escaped, unescaped, func(s string) string { return string(quote(s)) }} {
			want := chunkOf(spelled(tt.left)) + "\n" + chunkOf(`"next"`)
			if tt.left == "" && tt.text != "" {
				want = chunkOf(`"next"`)
			}
			if got := newQuiet(t).says(t, chunkOf(spelled(tt.text)), chunkOf(`"next"`)); got != want {
				t.Errorf("%s: the client gets\n%s, want\n%s", tt.name, got, want)
			}
		}
	}
}

// What is no user's turn may hold our words, and is not ours to change.
func TestStripOthers(t *testing.T) {
	q := unescaped(sampleBlock)
	lines := []string{
		update("s1", `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":`+q+`}}`),
		update("s1", `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":`+q+`}}`),
		update("s1", `{"sessionUpdate":"tool_call","toolCallId":"1","title":`+q+`}`),
		update("s1", `{"sessionUpdate":"plan","entries":[{"content":`+q+`}]}`),
		update("s1", `{"sessionUpdate":"user_message_chunk","content":{"type":"resource","resource":{"text":`+q+`}}}`),
		update("s1", `{"sessionUpdate":"user_message_chunk","content":[`+q+`]}`),
		update("s1", `{"sessionUpdate":"user_message_chunk"},"text":`+q),
		update("s2", `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":`+q+`}}`),
		update("s1", `{"sessionUpdate":"session_info_update","title":null,"x":`+q+`}`),
		`{"jsonrpc":"2.0","id":"x","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"title":` + q + `}}}`,
	}
	if got := newQuiet(t).says(t, lines...); got != strings.Join(lines, "\n") {
		t.Errorf("the client gets\n%s\nwant\n%s", got, strings.Join(lines, "\n"))
	}
}
