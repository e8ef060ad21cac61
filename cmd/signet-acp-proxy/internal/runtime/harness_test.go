package runtime

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// How long a harness may take to end is what its section says, also where it is known by its command alone.
func TestHarnessGrace(t *testing.T) {
	adapter := filepath.Join(t.TempDir(), "claude-agent-acp.exe")
	if err := os.WriteFile(adapter, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	c := &config.Config{Agents: map[string]config.AgentConfig{
		"claude": {Grace: 3 * time.Second},
		"mine":   {Grace: 4 * time.Second, Command: []string{adapter}},
	}}
	for _, tt := range []struct {
		name    string
		command []string
		want    time.Duration
	}{
		{"", []string{adapter}, 3 * time.Second},
		{"claude", []string{adapter}, 3 * time.Second},
		{"nobody", []string{adapter}, 3 * time.Second},
		{"mine", nil, 4 * time.Second},
		{"mine", []string{adapter}, 4 * time.Second},
		{"gemini", []string{adapter}, time.Second},
	} {
		var o upstream.Options
		if _, err := Harness(c, tt.name, tt.command, &o); err != nil || o.Grace != tt.want {
			t.Errorf("%q %q: %v to end, want %v (%v)", tt.name, tt.command, o.Grace, tt.want, err)
		}
	}
}
