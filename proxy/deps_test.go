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
		http = "net/http"                    // memory/signet asks the daemon
		cgo  = "github.com/mattn/go-sqlite3" // package migrations owns the drivers
		pure = "modernc.org/sqlite"
		// loses bytes, order and connections (docs/facts/acp.md, "The Go SDK on the wire"): acpclient has its types
		sdk = "github.com/coder/acp-go-sdk"
	)
	for pkg, never := range map[string][]string{
		"/proxy": {http, cgo, pure, sdk, module + "/migrations", module + "/upstream",
			module + "/memory/signet", module + "/memory/embedded"},
		"/proxy/frame": {http, cgo, pure, sdk, "database/sql", module + "/correlation", module + "/memory"},
		"/upstream":    {http, cgo, pure, sdk, module + "/proxy"},
		"/memory":      {http, cgo, pure, sdk, "database/sql"},
		"/correlation": {http, cgo, pure, sdk, module + "/proxy", module + "/proxy/frame"},
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
				if slices.ContainsFunc(never,
					func(n string) bool { return path == n || strings.HasPrefix(path, n+"/") }) {
					t.Errorf("links %s", path)
				}
			}
		})
	}
}
