package proxy

import (
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// Whether a block names the memory tool follows the mode that the harness said last.
func TestToolHintByMode(t *testing.T) {
	const options = `{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","currentValue":"auto"},` +
		`{"id":"mode","currentValue":"%s"}]}`
	for _, tt := range []struct {
		name, opened, then string // what it opens in, and an update behind that
		want               bool
	}{
		{"not known", "", "null", false},
		{"opened", `"modes":{"currentModeId":"auto"},`, "null", true},
		{"changed", `"modes":{"currentModeId":"default"},`, `{"sessionUpdate":"current_mode_update","currentModeId":"auto"}`, true},
		{"changed back", `"modes":{"currentModeId":"auto"},`, `{"sessionUpdate":"current_mode_update","currentModeId":"default"}`, false},
		{"an option", `"modes":{"currentModeId":"auto"},`, strings.ReplaceAll(options, "%s", "default"), false},
		{"an option back", `"modes":{"currentModeId":"default"},`, strings.ReplaceAll(options, "%s", "auto"), true},
	} {
		q := newQuiet(t, func(o *Options) {
			o.Traits = func(string) session.Traits {
				return session.Traits{Tools: true, AsksForTools: true, UnaskedModes: []string{"auto"}}
			}
		})
		q.sends(t, upNew)
		q.says(t, `{"jsonrpc":"2.0","id":1,"result":{`+tt.opened+`"sessionId":"s3"}}`, update("s3", tt.then))
		if got := q.agent.Load().traits.HintsTools(q.session("s3").Known().Mode); got != tt.want {
			t.Errorf("%s: the block names the tool: %t, want %t", tt.name, got, tt.want)
		}
	}
}
