package main

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// On a machine with nothing but Node, npx sets up Zed with the native program, at a place that stays, and an update
// takes its place there. The packages come as tarballs from a registry on loopback: nothing is fetched.
func TestNpx(t *testing.T) {
	npx := lookPath(t, "npx")
	built := filepath.Join(t.TempDir(), program)
	if out, err := exec.Command("go", "build", "-tags", "sqlite_fts5", "-o", built, "../../cmd/signet-acp-proxy").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dist := newDist(t, map[string]string{runtime.GOOS + "/" + runtime.GOARCH: built})
	registry := serve(t, filepath.Join(dist, "npm"))
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"node", "sh", "env"} { // and no Go, no compiler
		if err := os.Symlink(lookPath(t, name), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(code int, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), npx, append([]string{"-y", program}, args...)...)
		cmd.Dir = home
		cmd.Env = []string{
			"HOME=" + home, "PATH=" + bin, "npm_config_registry=" + registry, "npm_config_update_notifier=false",
			"npm_config_audit=false", "npm_config_fund=false", "SIGNET_PORT=1",
		}
		began := time.Now()
		out, err := cmd.CombinedOutput()
		t.Logf("npx -y %s %s: %.1f s", program, strings.Join(args, " "), time.Since(began).Seconds())
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("npx -y %s %v: exit %d, %v\n%s", program, args, got, err, out)
		}
		return string(out)
	}
	run(0, "setup", "zed", "gemini")
	var settings struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"agent_servers"`
	}
	if err := json.Unmarshal([]byte(read(t, home, ".config", "zed", "settings.json")), &settings); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(home, ".local", "share", program, program)
	entry := settings.Servers["signet-gemini"]
	if entry.Command != kept || strings.Contains(strings.Join(entry.Args, " "), "node") {
		t.Errorf("Zed starts %q %q, want the native program at %s", entry.Command, entry.Args, kept)
	}
	if got := read(t, kept); got != read(t, built) {
		t.Error("what was kept is not the program")
	}
	if out, err := exec.Command(kept, "--version").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// A worn-out copy is replaced; other commands copy nothing; the program's own exit code comes out.
	if err := os.WriteFile(kept, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(0, "memory", "list", "--json")
	if read(t, kept) != "old" {
		t.Error("a command that sets nothing up replaced the program")
	}
	run(0, "setup", "acpx", "gemini")
	if read(t, kept) != read(t, built) {
		t.Error("an old program was left in place")
	}
	if out := run(0, "init"); !strings.Contains(out, "no conversations yet") {
		t.Errorf("init shows nothing:\n%s", out)
	}
	run(2, "no-such-command")
	if left, err := filepath.Glob(kept + ".*"); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Without its platform package the starter says what is missing.
func TestNoPlatformPackage(t *testing.T) {
	cmd := exec.Command(lookPath(t, "node"), "../../npm/bin/signet-acp-proxy.js", "--version")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "is not installed") ||
		!strings.Contains(string(out), "go install") {
		t.Errorf("%v: %s", err, out)
	}
}

func lookPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s", name)
	}
	return path
}

// serve packs the packages in a folder and serves them as npm's registry does.
func serve(t *testing.T, folder string) string {
	t.Helper()
	manifests, err := filepath.Glob(filepath.Join(folder, "*", "package.json"))
	if err != nil || len(manifests) != len(targets(version))+1 {
		t.Fatalf("%d packages, %v", len(manifests), err)
	}
	files := map[string][]byte{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _ := url.PathUnescape(r.URL.Path)
		if text := files[name]; text != nil {
			_, _ = w.Write(text)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	address := "http://" + server.Listener.Addr().String()
	for _, manifest := range manifests {
		pack := exec.Command(lookPath(t, "npm"), "pack", "--silent", "--pack-destination", folder,
			filepath.Dir(manifest))
		pack.Env = append(os.Environ(), "npm_config_update_notifier=false", "HOME="+t.TempDir())
		if out, err := pack.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(read(t, manifest)), &m); err != nil {
			t.Fatal(err)
		}
		name := m["name"].(string)
		file := name + "-" + version + ".tgz"
		files["/"+file] = []byte(read(t, folder, file))
		sum := sha512.Sum512(files["/"+file])
		m["dist"] = map[string]any{"tarball": address + "/" + file,
			"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		packument, err := json.Marshal(map[string]any{
			"name": name, "dist-tags": map[string]string{"latest": version}, "versions": map[string]any{version: m},
		})
		if err != nil {
			t.Fatal(err)
		}
		files["/"+name] = packument
	}
	server.Start() // the handler reads files while nobody writes them any more
	return address
}
