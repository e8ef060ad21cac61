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
