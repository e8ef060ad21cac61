//go:build wine

// Package wine runs the build for Windows under Wine: `make windows`, and no part of `make test`.
package wine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/e2e/sandbox"
)

const (
	statement = "Remember this for later: the mast of the Curlew is 11.42 metres long."
	question  = "How long is the mast of the Curlew?"
	fact      = "11.42 metres"
	patience  = time.Minute
)

// machine is the Windows machine of all tests.
var machine struct {
	*sandbox.Sandbox
	drive       string // C:\, seen from here
	proxy, echo string // programs on it
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "make windows:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	for program, from := range map[string]string{"wine": "wine wine64", "x86_64-w64-mingw32-gcc": "gcc-mingw-w64-x86-64"} {
		if _, err := exec.LookPath(program); err != nil {
			return 1, fmt.Errorf("%s is not here: on Debian, apt-get install --no-install-recommends %s", program, from)
		}
	}
	box, err := sandbox.New()
	if err != nil {
		return 1, err
	}
	prefix := filepath.Join(box.Dir, "wine")
	box.Env = append(box.Env, "WINEPREFIX="+prefix, "WINEDEBUG=-all",
		"WINEDLLOVERRIDES=mscoree=;mshtml=;winemenubuilder.exe=d", `ECHOAGENT_DIR=C:\echo`, "SIGNET_ACP_MEMORY=embedded")
	machine.Sandbox, machine.drive = box, filepath.Join(prefix, "drive_c")
	machine.proxy, machine.echo = `C:\signet-acp-proxy.exe`, `C:\echoagent.exe`
	defer func() {
		_ = box.Command(context.Background(), nil, "wineserver", "-k").Run() // fails where none runs
		if closed := box.Close(); closed != nil {
			code, err = 1, closed
		}
	}()
	if err := install(); err != nil {
		return 1, err
	}
	// As long as a program runs, Wine's services stay, and none of ours starts them: they would hold its pipes.
	loggedOn := box.Command(context.Background(), nil, "wine", "cmd")
	if _, err := loggedOn.StdinPipe(); err != nil {
		return 1, err
	}
	if err := loggedOn.Start(); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// install makes the machine, and builds what runs on it.
func install() error {
	library := filepath.Join(machine.drive, "windows", "system32", "bcryptprimitives.dll")
	for _, step := range []struct {
		env     []string
		command []string
	}{
		{nil, []string{"wine", "wineboot", "--init"}},
		{[]string{"GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0"},
			[]string{"go", "build", "-o", machine.drive, "../../cmd/signet-acp-proxy", "../echoagent"}},
		{nil, []string{"x86_64-w64-mingw32-gcc", "-shared", "-o", library, "testdata/bcryptprimitives.c", "-ladvapi32"}},
	} {
		cmd := exec.Command(step.command[0], step.command[1:]...)
		cmd.Env = append(os.Environ(), step.env...)
		if step.command[0] == "wine" {
			cmd.Env = machine.Env
		}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr // no pipes, which Wine's services would hold
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(step.command, " "), err)
		}
	}
	return nil
}

// A user is somebody on the machine, with a Signet folder of their own.
type user struct {
	t      *testing.T
	signet string // seen from here
	env    []string
}

func newUser(t *testing.T) *user {
	name := strings.ReplaceAll(t.Name(), "/", "-")
	return &user{t: t, signet: filepath.Join(machine.drive, name), env: []string{`SIGNET_PATH=C:\` + name}}
}

// run runs the proxy's command and returns what it says.
func (u *user) run(args ...string) string {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	defer cancel()
	cmd := machine.Command(ctx, u.env, append([]string{"wine", machine.proxy}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		u.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// A conversation is a session behind the proxy.
type conversation struct {
	*user
	cmd     *exec.Cmd
	in      io.Closer
	conn    *acpclient.Conn
	session string
	read    chan struct{}
	said    strings.Builder
}

func (c *conversation) Update(u acpclient.Update)                     { c.said.WriteString(u.Content.Text) }
func (c *conversation) Allow(_ acpclient.ToolCall, answer func(bool)) { answer(true) }

func (u *user) converse() *conversation {
	u.t.Helper()
	c := &conversation{user: u, read: make(chan struct{})}
	c.cmd = machine.Command(u.t.Context(), u.env, "wine", machine.proxy, "--agent", "echo", "--", machine.echo)
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	u.must(err)
	out, err := c.cmd.StdoutPipe()
	u.must(err)
	u.must(c.cmd.Start())
	c.in, c.conn = in, acpclient.New(in, c)
	go func() {
		defer close(c.read)
		c.conn.Read(out)
	}()
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	defer cancel()
	_, err = c.conn.Initialize(ctx, "tester", "1")
	u.must(err)
	s, err := c.conn.NewSession(ctx, `C:\`)
	u.must(err)
	c.session = s.ID
	return c
}

func (c *conversation) prompt(text string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	_, err := c.conn.Prompt(ctx, c.session, text)
	c.must(err)
}

// end hangs up and returns what was said.
func (c *conversation) end() string {
	c.t.Helper()
	c.in.Close()
	<-c.read
	if err := c.cmd.Wait(); err != nil {
		c.t.Error(err)
	}
	return c.said.String()
}

func (u *user) must(err error) {
	u.t.Helper()
	if err != nil {
		u.t.Fatal(err)
	}
}

// turns counts those of each session on record.
func (u *user) turns() map[string]int {
	u.t.Helper()
	var rows []struct {
		ID    string `json:"acpxSessionId"`
		Turns int    `json:"turns"`
	}
	u.must(json.Unmarshal([]byte(u.run("sessions", "--json")), &rows))
	all := map[string]int{}
	for _, row := range rows {
		all[row.ID] = row.Turns
	}
	return all
}

// What is said in one session is remembered in the next, once, and nobody finds fault.
func TestRemembers(t *testing.T) {
	u := newUser(t)
	first := u.converse()
	first.prompt(statement)
	if said := first.end(); !strings.Contains(said, "I was given 1 block") {
		t.Errorf("the first was told:\n%s", said)
	}
	second := u.converse()
	second.prompt(question)
	second.prompt(question)
	said := second.end()
	if n := strings.Count(said, "<signet-memory "); n != 1 || !strings.Contains(said, fact) {
		t.Errorf("the second was told %d times:\n%s", n, said)
	}
	if turns := u.turns(); turns[first.session] != 1 || turns[second.session] != 2 {
		t.Errorf("on record: %v", turns)
	}
	if said := u.run("doctor"); strings.Contains(said, "problem") || !strings.Contains(said, "2 sessions") {
		t.Errorf("doctor:\n%s", said)
	}
	u.run("init", "--yes")
}

// A proxy that is killed has lost nothing, and leaves no agent behind.
func TestKilled(t *testing.T) {
	u := newUser(t)
	c := u.converse()
	c.prompt(statement)
	u.must(c.cmd.Process.Kill())
	<-c.read
	_ = c.cmd.Wait() // killed
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		left := agents(t)
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there: %v", left)
		}
	}
	if turns := u.turns(); turns[c.session] != 1 {
		t.Errorf("on record: %v", turns)
	}
	again := u.converse()
	again.prompt(question)
	if said := again.end(); !strings.Contains(said, fact) {
		t.Errorf("it was not remembered:\n%s", said)
	}
}

// agents are those that run.
func agents(t *testing.T) (all []sandbox.Process) {
	t.Helper()
	running, err := machine.Processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range running {
		if strings.HasPrefix(p.Command, machine.echo) {
			all = append(all, p)
		}
	}
	return all
}

// Two conversations at once are kept whole.
func TestTwoAtOnce(t *testing.T) {
	u := newUser(t)
	const each = 5
	both := []*conversation{u.converse(), u.converse()}
	var talking sync.WaitGroup
	for _, c := range both {
		talking.Go(func() {
			for range each {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if _, err := c.conn.Prompt(ctx, c.session, question); err != nil {
					t.Error(err)
				}
			}
		})
	}
	talking.Wait()
	turns := map[string]int{}
	for _, c := range both {
		c.end()
		turns[c.session] = each
	}
	if got := u.turns(); fmt.Sprint(got) != fmt.Sprint(turns) {
		t.Errorf("on record: %v, not %v", got, turns)
	}
}

// Clients' files stand where Windows has them, and come back to the byte.
func TestSetup(t *testing.T) {
	u := newUser(t)
	profile := filepath.Dir(find(t, "users/*/Temp"))
	for client, path := range map[string]string{
		"acpx": ".acpx/config.json", "zed": "AppData/Roaming/Zed/settings.json", "jetbrains": ".jetbrains/acp.json",
		"vscode": "AppData/Roaming/Code/User/settings.json", "acp-ui": "AppData/Roaming/acp-ui/agents.json",
	} {
		file := filepath.Join(profile, path)
		const before = "{\r\n  \"theirs\": 1\r\n}\r\n"
		u.must(os.MkdirAll(filepath.Dir(file), 0o700))
		u.must(os.WriteFile(file, []byte(before), 0o600))
		u.run("setup", client, "gemini")
		text, err := os.ReadFile(file)
		u.must(err)
		if !strings.Contains(string(text), `"command": "C:\\signet-acp-proxy.exe", "args": ["--agent", "gemini"`) {
			t.Errorf("%s:\n%s", client, text)
		}
		u.run("setup", client, "--remove")
		if text, err = os.ReadFile(file); err != nil || string(text) != before {
			t.Errorf("%s came back as %q, %v", client, text, err)
		}
	}
}

func find(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(machine.drive, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}
	return found[0]
}
