//go:build unix

package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// A cloned repository does not choose where an adapter comes from: neither by its .npmrc nor by its node_modules.
func TestRepositoryNamesARegistry(t *testing.T) {
	t.Parallel()
	var users, projects atomic.Int64
	registry := func(asked *atomic.Int64) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			http.Error(w, "{}", http.StatusNotFound)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	b := newBox(t)
	b.write(filepath.Join(b.Home, ".npmrc"), "registry="+registry(&users)+"\nfetch-retries=0\nupdate-notifier=false\n", 0o600)
	b.write(filepath.Join(b.Work, ".npmrc"), "registry="+registry(&projects)+"\n", 0o600)
	b.write(filepath.Join(b.Work, "package.json"), `{"name":"theirs"}`, 0o600)
	b.write(filepath.Join(b.Work, "node_modules", ".bin", "codex-acp"), "#!/bin/sh\ntouch ran\n", 0o755)
	c, err := b.start(t, nil, proxyBin, "--agent", "codex", "--memory", "off") // and stays, as npx may take long
	must(b, err)
	if code := c.code(); code == 0 || users.Load() == 0 {
		t.Errorf("the package was not looked for: exit %d, %d requests\n%s", code, users.Load(), c.said())
	}
	if n := projects.Load(); n != 0 {
		t.Errorf("the project's registry was asked %d times", n)
	}
	if _, err := os.Stat(filepath.Join(b.Work, "ran")); err == nil {
		t.Error("the project's program ran")
	}
}

func (b *box) write(file, text string, mode os.FileMode) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
}
