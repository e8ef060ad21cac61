package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/e2e/echoagent/echo"
	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// The test binary is also the programs that scripts run.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"signet-acp-proxy": main,
		"goodagent":        goodAgent,
		"plainprogram":     func() { fmt.Println("Welcome! What can I do for you?") },
		"converse":         func() { converse(os.Args[1], os.Args[2:]) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else programs under the race detector end a second late
			example, err := filepath.Abs("../../docs/agent.example.yaml")
			if err != nil {
				return err
			}
			env.Setenv("EXAMPLE", example)
			env.Setenv("SIGNET_PORT", "1")       // nobody listens there
			env.Setenv("SIGNET_ACP_HOLD", "30s") // a busy machine decides nothing
			return os.MkdirAll(home, 0o700)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "bounded": // the system can confine agents
				return bounds.Check() == nil, nil
			}
			return false, fmt.Errorf("no condition is named %q", name)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"alone":    aloneCmd,
			"daemon":   daemonCmd,
			"unasked":  unaskedCmd,
			"alive":    aliveCmd,
			"dead":     deadCmd,
			"writing":  writingCmd,
			"keep":     keepCmd,
			"kept":     keptCmd,
			"damage":   damageCmd,
			"terminal": terminalCmd,
			"screens":  screensCmd,
		},
	})
}

// daemonCmd starts a daemon for $SIGNET_PATH, of a kind, and points SIGNET_DAEMON_URL at it: healthy, hanging, token,
// foreign.
func daemonCmd(ts *testscript.TestScript, _ bool, args []string) {
	o := daemontest.Options{AgentsDir: ts.Getenv("SIGNET_PATH")}
	switch args[0] {
	case "token":
		o.Token = "right"
	case "foreign":
		o.AgentsDir = "/somebody/else"
	}
	d, err := daemontest.Listen(o)
	ts.Check(err)
	ts.Defer(d.Close)
	if args[0] == "hanging" {
		d.Fail(daemontest.Fault{Kind: daemontest.BlackHole})
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(d.URL(), "http://"), ":")
	ts.Setenv("SIGNET_HOST", host)
	ts.Setenv("SIGNET_PORT", port)
	if args[0] != "foreign" {
		ts.Setenv("SIGNET_DAEMON_URL", d.URL())
	}
}

// listeners are those of unaskedCmd, by their addresses.
var listeners sync.Map

// unaskedCmd points SIGNET_DAEMON_URL at a listener, and called again checks that nobody has connected to it, or with !
// that somebody has.
func unaskedCmd(ts *testscript.TestScript, neg bool, _ []string) {
	if open, ok := listeners.Load(ts.Getenv("SIGNET_DAEMON_URL")); ok {
		l := open.(net.Listener)
		own, err := net.Dial("tcp", l.Addr().String()) // behind whatever has connected and waits to be accepted
		ts.Check(err)
		defer own.Close()
		first, err := l.Accept()
		ts.Check(err)
		defer first.Close()
		if asked := first.RemoteAddr().String() != own.LocalAddr().String(); asked != neg {
			ts.Fatalf("somebody has connected: %t", asked)
		}
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	url := "http://" + l.Addr().String()
	listeners.Store(url, l)
	ts.Setenv("SIGNET_DAEMON_URL", url)
}

// aliveCmd is a process of ours that lives to the end of the script.
func aliveCmd(ts *testscript.TestScript, _ bool, _ []string) {
	lock, err := correlation.TakeLock(filepath.Join(ts.Getenv("SIGNET_PATH"), "acp", "live"),
		correlation.NewProcessID())
	ts.Check(err)
	ts.Defer(func() { ts.Check(lock.Release()) })
}

// writingCmd is somebody who writes into the database and does not come to an end before the script does.
func writingCmd(ts *testscript.TestScript, _ bool, _ []string) {
	db, err := migrations.Open(context.Background(), filepath.Join(ts.Getenv("SIGNET_PATH"), "acp", "sessions.db"))
	ts.Check(err)
	tx, err := db.BeginTx(context.Background(), nil) // takes the lock at once
	ts.Check(err)
	ts.Defer(func() { ts.Check(errors.Join(tx.Rollback(), db.Close())) })
}

// keepCmd notes what is in a folder, and keptCmd fails where that is not so any more.
func keepCmd(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv("KEPT", contents(ts, args[0]))
}

func keptCmd(ts *testscript.TestScript, _ bool, args []string) {
	if now, before := contents(ts, args[0]), ts.Getenv("KEPT"); now != before {
		ts.Fatalf("there was\n%s\nand now there is\n%s", before, now)
	}
}

// contents lists what is in a folder, with modes and hashes.
func contents(ts *testscript.TestScript, dir string) string {
	var all strings.Builder
	ts.Check(filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprint(&all, name, " ", info.Mode())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, " %x", sha256.Sum256(data))
		}
		all.WriteByte('\n')
		return nil
	}))
	return all.String()
}

// deadCmd leaves a delivery of each kind of end in the database.
func deadCmd(ts *testscript.TestScript, _ bool, _ []string) {
	ctx := context.Background()
	db, err := migrations.Open(ctx, filepath.Join(ts.Getenv("SIGNET_PATH"), "acp", "sessions.db"))
	ts.Check(err)
	defer db.Close()
	store := correlation.New(db, correlation.Options{LiveDir: filepath.Join(ts.Getenv("SIGNET_PATH"), "acp", "live")})
	process, err := store.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon",
		SignetPath: ts.Getenv("SIGNET_PATH")})
	ts.Check(err)
	_, err = correlationtest.Session(ctx, store, correlation.OpenSession{Harness: "good", ACPID: "sess-with-deliveries",
		Process: process.ID()})
	ts.Check(err)
	for _, state := range []string{"owed", "dead", "unknown"} {
		ts.Check(correlationtest.Apply(ctx, store, process.ID(), correlation.Summarised{Session: 1, Text: state}))
		if state != "owed" {
			_, err := db.ExecContext(ctx, `UPDATE debts SET state = ?1, done = owed + 1, error = 'it said no'
				WHERE payload = ?1`, state)
			ts.Check(err)
		}
	}
	ts.Check(process.End(ctx, "ended"))
}

// damageCmd spoils a file behind its first bytes.
func damageCmd(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	b, err := os.ReadFile(name)
	ts.Check(err)
	for i := 100; i < len(b); i++ {
		b[i] ^= 0x5a
	}
	ts.Check(os.WriteFile(name, b, 0o600))
}

func goodAgent() {
	var client echo.Client
	var name, session string
	must(json.Unmarshal([]byte(`"`+cmp.Or(os.Getenv("AGENT_NAME"), "good-agent")+`"`), &name))
	must(json.Unmarshal([]byte(`"`+goodSession()+`"`), &session))
	client.Serve(echo.New(&client, name, session), os.Stdin, os.Stdout, slog.DiscardHandler)
}

// goodSession is the id of its session. It and the name are written as in JSON.
func goodSession() string {
	return cmp.Or(os.Getenv("AGENT_SESSION"), "sess-0f5c8a52-77aa-4f0e-9d51-000000000001")
}

// converse is a client that has one prompt answered by an agent, and prints what the agent says.
func converse(prompt string, command []string) {
	agent := exec.Command(command[0], command[1:]...)
	agent.Stderr = os.Stderr
	in, err := agent.StdinPipe()
	must(err)
	out, err := agent.StdoutPipe()
	must(err)
	must(agent.Start())
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	cwd, err := os.Getwd()
	must(err)
	text, err := json.Marshal(prompt)
	must(err)
	dir, err := json.Marshal(cwd)
	must(err)
	for i, request := range []string{
		`"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"converse","version":"9"},"clientCapabilities":{}}`,
		`"session/new","params":{"cwd":` + string(dir) + `,"mcpServers":[]}`,
		`"session/prompt","params":{"sessionId":"` + goodSession() + `","prompt":[{"type":"text","text":` +
			string(text) + `}]}`,
	} {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", i, request)
		for lines.Scan() && !strings.Contains(lines.Text(), fmt.Sprintf(`"id":%d,`, i)) {
			fmt.Println(lines.Text())
		}
	}
	must(in.Close())
	for lines.Scan() {
	}
	must(agent.Wait())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
