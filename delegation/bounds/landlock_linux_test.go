package bounds

import (
	"fmt"
	"io"
	"net"
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
	for _, apart := range []bool{true, false} {
		t.Run(fmt.Sprintf("in a root of its own %v", apart), func(t *testing.T) { launches(t, apart) })
	}
}

func launches(t *testing.T, apart bool) {
	dir := files(t, "read/a", "closed/b", "write/c", "write/tmp/t", "write/shm/s")
	socket := filepath.Join(files(t), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	unseen, noSocket := "Permission denied", "Permission denied"
	if apart {
		unseen, noSocket = "No such file", "No such file"
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("write/script"), []byte("echo a script\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	rules := Rules{Read: append([]string{at("read"), at("gone")}, system...), Write: []string{at("write")},
		State: at("write"), Memory: 2 << 30}
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
		"ls " + filepath.Dir(socket):                   unseen,
		connects + " " + socket:                        noSocket,
		hides:                                          "0 1",
		pair + " && echo ok":                           "ok",
		"cat /etc/passwd >/dev/null && echo ok":        "ok",
		"chmod u+s " + at("write/c"):                   "not permitted",
		"ulimit -d; ulimit -c":                         "2097152\n0\n",
	} {
		out, exit := launch(t, apart, rules, "/bin/sh", "sh", "-c", script)
		if !strings.Contains(out, want) || strings.Contains(out, "\"read\"") {
			t.Errorf("%s: %s, %s; want %s", script, out, exit, want)
		}
	}
	for path, want := range map[string]string{at("write/script"): "a script", at("write/none"): "no such file"} {
		if out, _ := launch(t, apart, rules, path, path); !strings.Contains(out, want) {
			t.Errorf("%s: %s, want %s", path, out, want)
		}
	}
	if left, err := os.ReadDir(at("closed")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

const (
	connects = `python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])'`
	hides    = `python3 -c 'import ctypes; c = ctypes.CDLL(None); print(c.prctl(4, 0), c.prctl(3))'`
	pair     = `python3 -c 'import socket; a, b = socket.socketpair(); a.send(b"x"); b.recv(1)'`
)

// launch runs a command in bounds, and returns what it says.
func launch(t *testing.T, apart bool, rules Rules, path string, command ...string) (said string, exit upstream.Exit) {
	t.Helper()
	command, env, err := rules.Around(path, command, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	p, err := upstream.Start(upstream.Options{Command: command, Env: env, Dir: rules.State, OwnGuard: true,
		Apart: apart})
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
