package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// A tool of ours is there beside the store's and beside a daemon's, is told who calls, and answers in folders that have
// not opted out.
func TestExtra(t *testing.T) {
	greet := Extra{
		Tool: &mcp.Tool{Name: "session_greet", InputSchema: map[string]any{"type": "object"}},
		Answer: func(_ context.Context, who memory.Session, raw json.RawMessage) (any, error) {
			var given struct{ Name string }
			if err := json.Unmarshal(raw, &given); err != nil || given.Name == "" {
				return nil, errors.New("name is missing")
			}
			return map[string]string{"hello": given.Name, "from": who.Key}, nil
		},
	}
	ours := func(o *Options) { o.Extras = []Extra{greet} }
	d := daemontest.Start(t, daemontest.Options{})
	for name, s := range map[string]*Server{
		"store": newServer(t, newStore(t), ours), "daemon": newServer(t, nil, withDaemon(t, d), ours),
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, s, robin)
			if names := c.names(); !slices.Contains(names, "memory_store") ||
				len(slices.DeleteFunc(names, func(n string) bool { return n != "session_greet" })) != 1 {
				t.Errorf("tools: %v", names)
			}
			var got map[string]string
			c.ok("session_greet", map[string]any{"name": "Robin"}, &got)
			if got["hello"] != "Robin" || got["from"] != "acp-1" {
				t.Errorf("it says %v", got)
			}
			for _, arguments := range []any{map[string]any{}, nil} {
				if words, failed := c.call("session_greet", arguments); !failed || words != "name is missing" {
					t.Errorf("without a name: %s, %v", words, failed)
				}
			}
			out := t.TempDir()
			if err := os.WriteFile(filepath.Join(out, ".signet-ignore"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			c = connect(t, s, func() memory.Session { return memory.Session{Key: "acp-2", Cwd: out} })
			if words, failed := c.call("session_greet", map[string]any{"name": "Robin"}); !failed {
				t.Errorf("in a folder that has opted out: %s", words)
			}
		})
	}
}
