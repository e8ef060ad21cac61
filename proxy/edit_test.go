package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

// The log names every edit with its session and size, and holds nothing that anybody said or remembers.
func TestEditsAreLogged(t *testing.T) {
	const canary = "canary-7f3a"
	var log safeBuffer
	w := newWorld(t)
	src := newSource()
	src.context.Identity, src.identity.Identity = "You are "+canary, "You are "+canary
	src.context.Items[0].Text = "Robin has a " + canary
	c := w.start(src, systemAgent(), bySystem, announcing, func(o *Options) {
		o.Log = zerolog.New(&log).Level(zerolog.TraceLevel)
		o.MCPServer = func(string, func() memory.Session) ([]byte, func()) {
			return []byte(`{"name":"signet","token":"` + canary + `"}`), nil
		}
	})
	c.openSettled()
	c.call(1, methodNew, cwd)
	c.prompt(2, "s1", "my "+canary)
	c.close()
	for _, kind := range []string{"system prompt", "memory tools", "announcement", session.KindMemories} {
		if !strings.Contains(log.String(), fmt.Sprintf(`"kind":%q`, kind)) {
			t.Errorf("no word about %s in\n%s", kind, log.String())
		}
	}
	if !strings.Contains(log.String(), `"session":"s1"`) || !strings.Contains(log.String(), `"bytes":`) {
		t.Errorf("no session, or no size, in\n%s", log.String())
	}
	if both := log.String() + c.talk.String(); strings.Contains(both, canary) {
		t.Errorf("the canary is in\n%s", both)
	}
}
