package proxy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/memory"
)

// Whether a block names the memory tool follows the mode that the harness said last.
func TestToolHintByMode(t *testing.T) {
	const options = `{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","currentValue":"auto"},` +
		`{"id":"mode","currentValue":"%s"}]}`
	for _, tt := range []struct {
		name, opened, then string // what it opens in, and an update behind that
		want               bool
	}{
		{"not known", "", "", false},
		{"opened", `"modes":{"currentModeId":"auto"},`, "", true},
		{"changed", `"modes":{"currentModeId":"default"},`, `{"sessionUpdate":"current_mode_update","currentModeId":"auto"}`, true},
		{"changed back", `"modes":{"currentModeId":"auto"},`, `{"sessionUpdate":"current_mode_update","currentModeId":"default"}`, false},
		{"an option", `"modes":{"currentModeId":"auto"},`, strings.ReplaceAll(options, "%s", "default"), false},
		{"an option back", `"modes":{"currentModeId":"default"},`, strings.ReplaceAll(options, "%s", "auto"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plain := echo()
			c := newWorld(t).start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
				if method(f) == "session/new" {
					say(`{"jsonrpc":"2.0","id":%s,"result":{%s"sessionId":"s1"}}`, f["id"], tt.opened)
					if tt.then != "" {
						say("%s", update("s1", tt.then))
					}
					return
				}
				plain(f, line, say)
			}, func(o *Options) {
				o.MCPServer = func(string, func() memory.Session) ([]byte, func()) { return nil, nil }
				o.ToolHint = func(_, mode string) bool { return mode == "auto" }
			})
			c.open()
			c.call(1, "session/new", cwd)
			if tt.then != "" {
				c.until("sessionUpdate")
				c.call(2, "_ping", "{}") // what was forwarded before has been read by now
			}
			c.prompt(3, "s1", "hello")
			if got := strings.Contains(c.blocks(0)[0], "memory_search"); got != tt.want {
				t.Errorf("the block names the tool: %t, want %t", got, tt.want)
			}
		})
	}
}
