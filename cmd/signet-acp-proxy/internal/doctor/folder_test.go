package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
)

func TestFreeSpace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, db string
		problem  bool
	}{
		{"space", filepath.Join(dir, "sessions.db"), false},
		{"no folder yet", filepath.Join(dir, "none", "sessions.db"), false},
		{"nobody named one", "", false},
		{"a folder that takes nothing", filepath.Join(file, "sessions.db"), true},
	} {
		e := examination{c: &config.Config{DB: c.db}}
		if found := e.space(); len(found) > 0 != c.problem {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
