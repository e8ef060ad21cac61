package bounds

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// The test binary is also our program as it becomes a command in bounds.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Word {
		fmt.Println(Launch(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// A program reads and writes what it is given and nothing else, signals nobody outside, has no more rights than it
// needs, and nothing that it has left behind outlives it.
func TestLaunch(t *testing.T) {
	if err := Check(); err != nil {
		t.Skip(err)
	}
	dir := files(t, "read/a", "closed/b", "write/c")
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("write/script"), []byte("echo a script\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	rules := Rules{Read: append([]string{at("read"), at("gone")}, system...), Write: []string{at("write")},
		Memory: 2 << 30}
	for script, want := range map[string]string{
		"cat " + at("read/a"):                          "read/a",
		"cat " + at("closed/b"):                        "Permission denied",
		"echo x >" + at("read/a"):                      "Permission denied",
		"cat " + at("write/c"):                         "write/c",
		"echo x >" + at("write/d") + " && echo ok":     "ok",
		at("write/script"):                             "a script",
		"echo x >/dev/null && echo ok":                 "ok",
		fmt.Sprintf("kill -0 %d", os.Getpid()):         "ermitted",
		"grep CapEff /proc/self/status":                "CapEff:\t0000000000000",
		"setsid sleep 300 >/dev/null 2>&1 & echo left": "left",
		"echo $" + rulesVariable + ".":                 ".",
		"chmod u+s " + at("write/c"):                   "not permitted",
		"ulimit -d; ulimit -c":                         "2097152\n0\n",
	} {
		out, exit := launch(t, rules, "/bin/sh", "sh", "-c", script)
		if !strings.Contains(out, want) || strings.Contains(out, "\"read\"") {
			t.Errorf("%s: %s, %s; want %s", script, out, exit, want)
		}
	}
	for path, want := range map[string]string{at("write/script"): "a script", at("write/none"): "no such file"} {
		if out, _ := launch(t, rules, path, path); !strings.Contains(out, want) {
			t.Errorf("%s: %s, want %s", path, out, want)
		}
	}
	if left, err := os.ReadDir(at("closed")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// launch runs a command in bounds, and returns what it says.
func launch(t *testing.T, rules Rules, path string, command ...string) (said string, exit upstream.Exit) {
	t.Helper()
	command, env, err := rules.Around(path, command, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	p, err := upstream.Start(upstream.Options{Command: command, Env: env, OwnGuard: true})
	if err != nil {
		t.Fatal(err)
	}
	p.Hangup()
	out, err := io.ReadAll(p.Stdout)
	if err != nil {
		t.Error(err)
	}
	exit = p.Wait()
	return string(out) + strings.Join(p.LastStderr(), "\n"), exit
}
