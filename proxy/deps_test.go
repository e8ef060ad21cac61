package proxy

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/Signet-AI/signet-acp-proxy"

// What must never be linked into a package.
func TestForbiddenDependencies(t *testing.T) {
	const (
		http   = "net/http"                    // memory/signet asks the daemon
		sqlite = "github.com/mattn/go-sqlite3" // package migrations owns the driver
		sdk    = "github.com/coder/acp-go-sdk" // loses bytes, order and connections (facts/acp.md, section 4): it plays peers in tests
	)
	for pkg, never := range map[string][]string{
		"/proxy":                {http, sqlite, sdk, module + "/migrations", module + "/upstream", module + "/memory/signet", module + "/memory/embedded"},
		"/proxy/frame":          {http, sqlite, sdk, "database/sql", module + "/correlation", module + "/memory"},
		"/upstream":             {http, sqlite, sdk, module + "/proxy"},
		"/memory":               {http, sqlite, sdk, "database/sql"},
		"/correlation":          {http, sqlite, sdk, module + "/proxy", module + "/proxy/frame"},
		"/cmd/signet-acp-proxy": {sdk},
	} {
		t.Run(strings.TrimPrefix(pkg, "/"), func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command("go", "list", "-tags", "sqlite_fts5", "-deps", module+pkg).Output()
			if err != nil {
				t.Fatal(err)
			}
			linked := strings.Fields(string(out))
			if !slices.Contains(linked, module+pkg) {
				t.Fatalf("the package itself is not listed:\n%s", out)
			}
			for _, path := range linked {
				if slices.ContainsFunc(never, func(n string) bool { return path == n || strings.HasPrefix(path, n+"/") }) {
					t.Errorf("links %s", path)
				}
			}
		})
	}
}
