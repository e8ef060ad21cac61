package proxy

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// maxTurnText is how much of one side of a turn is kept.
const maxTurnText = 96 << 10

// says answers every prompt with updates of its session, and else as echo does.
func says(updates ...string) agent {
	plain := echo()
	return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) != "session/prompt" {
			plain(f, line, say)
			return
		}
		for _, u := range updates {
			say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":%s}}`,
				param(f, "sessionId"), u)
		}
		say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, f["id"])
	}
}

// turnOf returns the one turn of a prompt, whose blocks are given in JSON, as it is stored.
func turnOf(t *testing.T, prompt string, a agent, change ...func(*Options)) correlation.Turn {
	t.Helper()
	w := newWorld(t)
	c := w.start(newSource(), a, change...)
	c.open()
	c.call(1, "session/new", cwd)
	c.call(2, "session/prompt", `{"sessionId":"s1","prompt":[`+prompt+`]}`)
	c.close()
	turns, err := w.store.Turns(t.Context(), w.session("echo", "s1").ID)
	if err != nil || len(turns) != 1 {
		t.Fatalf("%d turns (%v)", len(turns), err)
	}
	return turns[0]
}

func textBlock(text string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"text","text":%s}`, quoted)
}

// The titles of tool calls are as clean as all else, and short.
func TestToolTitles(t *testing.T) {
	const key = "sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz"
	tests := []struct{ name, title, want string }{
		{"plain", "Read main.go", "Read main.go"},
		{"key", "curl -H 'X-Key: " + key + "'", "curl -H 'X-Key: [redacted:anthropic]'"},
		{"private word of the prompt", "grep CANARY-Xy99Zq", "grep [private]"},
		{"private by itself", "echo <private>whatever</private> done", "echo  done"},
		{"long", strings.Repeat("é", 5000), strings.Repeat("é", maxTitle/2)},
		{"key where it is cut", strings.Repeat("x ", maxTitle/2-5) + key, strings.Repeat("x ", maxTitle/2-5) + "[redacted:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			title, _ := json.Marshal(tt.title)
			turn := turnOf(t, textBlock("my <private>CANARY-Xy99Zq</private> word"), says(
				`{"sessionUpdate":"tool_call","toolCallId":"1","title":`+string(title)+`,"kind":"`+strings.Repeat("k",
					99)+`","status":"pending"}`))
			want := correlation.ToolCall{ID: "1", Title: tt.want, Kind: strings.Repeat("k", maxToolWord),
				Status: "pending"}
			if len(turn.Tools) != 1 || !reflect.DeepEqual(turn.Tools[0], want) {
				t.Errorf("stored %+v, want %+v", turn.Tools, want)
			}
		})
	}
}

// What one process heard marked private another does not store either, in an answer or in a tool's title, though its
// agent repeats it bare.
func TestPrivateInOtherProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private")
	for n, prompt := range []string{"Robin is at <private>0151 442 88 10</private>", "and now?"} {
		repeats := says(saying("Call 0151 442 "), saying("88 10 then."),
			`{"sessionUpdate":"tool_call","toolCallId":"1","title":"dial 0151 442 88 10","status":"pending"}`)
		turn := turnOf(t, textBlock(prompt), repeats, func(o *Options) { o.Private = privacy.FileAt(path) })
		if turn.Assistant != "Call [private] then." || len(turn.Tools) != 1 || turn.Tools[0].Title != "dial [private]" {
			t.Errorf("process %d stores %q and %+v", n+1, turn.Assistant, turn.Tools)
		}
	}
}

// Of a long answer the beginning and the end are kept, and what was left out is said.
func TestLongAnswer(t *testing.T) {
	const chunk = 1000
	line := strings.Repeat("å", (chunk-2)/2) + " \n"
	tests := []struct {
		name   string
		chunks int
		cut    bool
	}{{"short", 3, false}, {"just fits", maxTurnText/chunk - 1, false}, {"a little long", 101, true},
		{"long", 130, true}, {"very long", 3000, true}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			updates := []string{saying("FIRST ")}
			for range tt.chunks {
				updates = append(updates, saying(line))
			}
			turn := turnOf(t, textBlock("why?"), says(append(updates, saying("FINAL"), saying("ANSWER"))...))
			got := turn.Assistant
			if !strings.HasPrefix(got, "FIRST ") || !strings.HasSuffix(got, "FINALANSWER") ||
				turn.Truncated != tt.cut || len(got) > maxTurnText+16<<10+100 {
				t.Fatalf("%d bytes, truncated %v: %.20q…%q", len(got), turn.Truncated, got, got[max(0, len(got)-20):])
			}
			size := len("FIRST FINALANSWER") + tt.chunks*len(line)
			if !tt.cut {
				if len(got) != size {
					t.Errorf("%d bytes, want %d", len(got), size)
				}
				return
			}
			head, rest, _ := strings.Cut(got, "\n[")
			var left int
			if _, err := fmt.Sscanf(rest, "%d bytes left out …]", &left); err != nil {
				t.Fatal(err)
			}
			_, tail, _ := strings.Cut(rest, "\n")
			// What is left out is counted as it came: a line's end is two bytes of JSON.
			all := "FIRST " + strings.Repeat(line, tt.chunks) + "FINALANSWER"
			if off := len(head) + left + len(tail) - size; off < 0 || off > 4*tt.chunks ||
				!strings.HasPrefix(all, head) || !strings.HasSuffix(all, tail) {
				t.Errorf("%d+%d+%d bytes of %d", len(head), left, len(tail), size)
			}
		})
	}
}

func saying(text string) string {
	return `{"sessionUpdate":"agent_message_chunk","content":` + textBlock(text) + `}`
}

// A chunk without a messageId is a notice where answers have one. Where nothing has one it is the answer.
func TestNotices(t *testing.T) {
	const named = `{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":`
	codex := func(o *Options) { o.Traits = func(string) session.Traits { return session.Traits{MessageIDs: true} } }
	for _, tt := range []struct {
		name    string
		updates []string
		change  func(*Options)
		want    string
	}{
		{"notice", []string{saying("Warning: no metadata"), named + textBlock("Hello") + "}", named + textBlock(" you") + "}"}, codex, "Hello you"},
		{"in between", []string{named + textBlock("Hello") + "}", saying("Warning: slow"), named + textBlock(" you") + "}"}, codex, "Hello you"},
		{"nothing else", []string{saying("Hello"), saying(" you")}, codex, "Hello you"},
		{"another harness", []string{saying("Hello"), named + textBlock(" you") + "}"}, func(*Options) {}, "Hello you"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			c := w.start(newSource(), says(tt.updates...), tt.change)
			c.open()
			c.call(1, "session/new", cwd)
			c.prompt(2, "s1", "hello")
			c.close()
			turns, err := w.store.Turns(t.Context(), w.session("echo", "s1").ID)
			if err != nil || len(turns) != 1 || turns[0].Assistant != tt.want {
				t.Errorf("%d turns, %v: %+v", len(turns), err, turns)
			}
		})
	}
}

// The span that a client sent a prompt in is kept, of the first prompt, which is held, and of later ones; what is none
// is not.
func TestTraceparent(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0"
	w := newWorld(t)
	c := w.start(newSource(), echo())
	c.open()
	c.call(1, "session/new", cwd)
	for i, given := range []string{parent + "1", parent + "0", "nonsense", ""} {
		meta := ""
		if given != "" {
			meta = fmt.Sprintf(`,"_meta":{"traceparent":%q}`, given)
		}
		c.call(2+i, "session/prompt", `{"sessionId":"s1","prompt":[`+textBlock("traceparent: hello")+`]`+meta+`}`)
	}
	c.close()
	events, err := w.store.Events(t.Context(), w.session("echo", "s1").ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		if e.Kind == "trace_known" {
			var data struct{ Parent string }
			if err := json.Unmarshal(e.Data, &data); err != nil || e.Turn == 0 {
				t.Errorf("%s: %v", e.Data, err)
			}
			got = append(got, data.Parent)
		}
	}
	if want := []string{parent + "1", parent + "0"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
