package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// says answers every prompt with updates of its session, and else as echo does.
func says(updates ...string) agent {
	plain := echo()
	return func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
		if method(f) != "session/prompt" {
			plain(f, line, say)
			return
		}
		for _, u := range updates {
			say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":%s}}`, param(f, "sessionId"), u)
		}
		say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, f["id"])
	}
}

// turnOf gives the one turn of a prompt, whose blocks are given in JSON, as it is stored.
func turnOf(t *testing.T, prompt string, a agent) correlation.Turn {
	t.Helper()
	w := newWorld(t)
	c := w.start(newSource(), a)
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
				`{"sessionUpdate":"tool_call","toolCallId":"1","title":`+string(title)+`,"kind":"`+strings.Repeat("k", 99)+`","status":"pending"}`))
			want := correlation.ToolCall{Title: tt.want, Kind: strings.Repeat("k", maxToolWord), Status: "pending"}
			if len(turn.Tools) != 1 || turn.Tools[0] != want {
				t.Errorf("stored %q, want %q", turn.Tools, want)
			}
		})
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
	}{{"short", 3, false}, {"just fits", maxTurnText/chunk - 1, false}, {"a little long", 101, true}, {"long", 130, true}, {"very long", 3000, true}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			updates := []string{saying("FIRST ")}
			for range tt.chunks {
				updates = append(updates, saying(line))
			}
			turn := turnOf(t, textBlock("why?"), says(append(updates, saying("FINAL"), saying("ANSWER"))...))
			got := turn.Assistant
			if !strings.HasPrefix(got, "FIRST ") || !strings.HasSuffix(got, "FINALANSWER") || turn.Truncated != tt.cut || len(got) > maxTurnText+100 {
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
			if len(head)+left+len(tail) != size || !strings.HasSuffix(head, line[:len(line)-1]) || !strings.HasPrefix(tail, line) {
				t.Errorf("%d+%d+%d bytes of %d", len(head), left, len(tail), size)
			}
		})
	}
}

func saying(text string) string {
	return `{"sessionUpdate":"agent_message_chunk","content":` + textBlock(text) + `}`
}

// Where an answer is cut no secret comes into sight that would not else: not one that is cut in two, not one whose <private> is left out.
func TestLongAnswerHidesSecrets(t *testing.T) {
	const key = "sk-ant-api03-Zt4mXk29fQvRw81LsNpYb6HcGd07JuEoIaT5xK3rVqWnMlPz"
	filler := strings.Repeat("so it goes ", 100)
	for _, secret := range []string{"key " + key + " ", "<private>" + strings.Repeat("CANARY one ", 50) + "</private> "} {
		for shift := range 12 { // over both cuts
			var text strings.Builder
			text.WriteString(strings.Repeat(".", shift*10) + " ")
			for text.Len() < 3*maxTurnText/2 {
				text.WriteString(secret + filler[:500])
			}
			r, tu := New(Options{}), &turn{}
			for rest := text.String(); rest != ""; {
				n := min(len(rest), 777)
				r.say(tu, rest[:n])
				rest = rest[n:]
			}
			said, cut := tu.said()
			if got := storable(withoutCutPrivate(said), nil, nil, false); !cut || strings.Contains(got, "CANARY") || strings.Contains(got, "sk-ant") || strings.Contains(got, "WnMlPz") {
				t.Errorf("%q shows", secret)
			}
			if r.unsaved != tu.counted || r.unsaved != len(tu.text)+len(tu.tail) || tu.left != tu.lost {
				t.Errorf("%d bytes are unsaved, %d counted, %d left out, %d lost", r.unsaved, tu.counted, tu.left, tu.lost)
			}
		}
	}
}
