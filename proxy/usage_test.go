package proxy

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Of a prompt's result its usage is recorded, and the quota where it says what we can read: gemini's, and not that of
// claude and codex, which repeats their usage.
func TestResultUsage(t *testing.T) {
	const usage = `"usage":{"inputTokens":10,"outputTokens":5}`
	for _, tt := range []struct {
		name, result string
		want         []string
	}{
		{"usage", usage, []string{"result 10"}},
		{"gemini", `"_meta":{"quota":{"token_count":{"input_tokens":20,"output_tokens":5}}}`, []string{"quota 20"}},
		{"codex", usage + `,"_meta":{"quota":{"token_count":{"inputTokens":10,"outputTokens":5}}}`, []string{"result 10"}},
		{"a command of codex", `"_meta":{"quota":{"token_count":null,"model_usage":[]}}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var mu sync.Mutex
			var got []string
			plain := echo()
			c := newWorld(t).start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
				if method(f) == "session/prompt" {
					say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn",%s}}`, f["id"], tt.result)
					return
				}
				plain(f, line, say)
			}, seeing(func(e correlation.Event) {
				if u, ok := e.(correlation.UsageReported); ok {
					mu.Lock()
					defer mu.Unlock()
					count, _ := json.Marshal(u.Usage.Input)
					got = append(got, u.Usage.Reporter+" "+string(count))
				}
			}))
			c.open()
			c.call(1, "session/new", cwd)
			c.prompt(2, "s1", "hello")
			c.close()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(got, tt.want) {
				t.Errorf("recorded %q, want %q", got, tt.want)
			}
		})
	}
}
