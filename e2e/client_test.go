package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A client speaks to the proxy, a line at a time. Its connection may break at any moment, which is an error of request
// and fails the test of whoever uses call.
type client struct {
	*box
	t       *testing.T
	cmd     *exec.Cmd
	in      *os.File // the proxy's stdin
	out     *os.File // the proxy's stdout
	read    *bufio.Reader
	stderr  stderr
	id      int // of the next request
	ended   chan struct{}
	session string // the last one that open has opened

	sent              bytes.Buffer // all of it
	received, signals string       // files of what an unruly harness got
}

// A stderr is what a program has said to people, which may be read while it goes on.
type stderr struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *stderr) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *stderr) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start starts a program that is spoken to.
func (b *box) start(t *testing.T, variables []string, command ...string) (*client, error) {
	c := &client{box: b, t: t, id: 1, ended: make(chan struct{})}
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cmd = b.Command(ctx, variables, command...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = stdin, stdout, &c.stderr
	err = c.cmd.Start()
	stdin.Close()
	stdout.Close()
	if err != nil {
		cancel()
		return nil, err
	}
	c.in, c.out, c.read = in, out, bufio.NewReaderSize(out, 64<<10)
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait() // its code is looked at by those who know what it should be
	}()
	t.Cleanup(func() {
		c.hangUp()
		c.out.Close()
		if !c.within(patience) {
			t.Error("the proxy does not end")
		}
		cancel()
		<-c.ended
	})
	return c, nil
}

// dial starts the proxy in front of a harness and greets it.
func (b *box) dial(flags []string, harness ...string) (*client, error) {
	c, err := b.start(b.t, nil, slices.Concat([]string{proxyBin, "--agent", "echo"}, flags, []string{"--"}, harness)...)
	if err == nil {
		err = c.greet()
	}
	return c, err
}

// connect is dial in a test that goes no further without it.
func (b *box) connect(flags []string, harness ...string) *client {
	b.t.Helper()
	c, err := b.dial(flags, harness...)
	must(b, err)
	return c
}

// unleash starts the proxy in front of a harness that behaves as the words say.
func (b *box) unleash(t *testing.T, words string, flags ...string) *client {
	t.Helper()
	file := func(name string) string {
		f, err := os.CreateTemp(b.Dir, name)
		must(b, err)
		must(b, f.Close())
		return f.Name()
	}
	received, signals := file("received-"), file("signals-")
	c, err := b.start(t, []string{unrulyVariable + "=" + words, signalsFile + "=" + signals, receivedFile + "=" + received},
		slices.Concat(b.wrap, []string{proxyBin, "--agent", "unruly", "--memory", "embedded"}, flags, []string{"--", self})...)
	must(b, err)
	c.received, c.signals = received, signals
	return c
}

// turnWith has one turn with an agent, in a session that is loaded, or "" in a new one, and returns its id and all that
// the agent says then.
func (b *box) turnWith(agent, session, words string) (id, reply string) {
	b.t.Helper()
	c, err := b.start(b.t, nil, proxyBin, "--agent", agent)
	must(b, err)
	defer c.end()
	must(b, c.greet())
	if session == "" {
		session = c.open()
	} else {
		c.load(session)
	}
	return session, c.say(session, words)
}

// An answer is a result, and all lines to that of the response.
type answer struct {
	Result json.RawMessage
	said   string
}

// request sends a request and reads to its response. It allows whatever it is asked for.
func (c *client) request(method string, params any) (a answer, err error) {
	id := c.id
	c.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return a, err
	}
	if err := c.write(string(line) + "\n"); err != nil {
		return a, err
	}
	var said strings.Builder
	for {
		line, err := c.readTo(`"id":`, &said)
		if err != nil {
			return a, err
		}
		var frame struct {
			ID            json.RawMessage
			Method        string
			Result, Error json.RawMessage
		}
		switch err := json.Unmarshal([]byte(line), &frame); {
		case err != nil:
			return a, err
		case frame.Method == "session/request_permission":
			if err := c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected",`+
				`"optionId":"allow"}}}`+"\n", frame.ID)); err != nil {
				return a, err
			}
		case string(frame.ID) != fmt.Sprint(id) || frame.Method != "":
		case frame.Error != nil:
			return a, errors.New(string(frame.Error))
		default:
			return answer{frame.Result, said.String()}, nil
		}
	}
}

// call is a request that must be answered with a result.
func (c *client) call(method string, params any) answer {
	c.t.Helper()
	a, err := c.request(method, params)
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", method, err, c.said())
	}
	return a
}

func (c *client) greet() error {
	_, err := c.request("initialize", map[string]any{"protocolVersion": 1})
	return err
}

func (c *client) newSession() (id string, err error) {
	a, err := c.request("session/new", map[string]any{"cwd": c.Work, "mcpServers": []any{}})
	if err != nil {
		return "", err
	}
	var opened struct{ SessionID string }
	return opened.SessionID, json.Unmarshal(a.Result, &opened)
}

// open opens a session and returns its id.
func (c *client) open() string {
	c.t.Helper()
	var err error
	if c.session, err = c.newSession(); err != nil {
		c.t.Fatalf("%v\n%s", err, c.said())
	}
	return c.session
}

// load loads a session and returns all that is said.
func (c *client) load(session string) string {
	c.t.Helper()
	return c.call("session/load", map[string]any{"sessionId": session, "cwd": c.Work, "mcpServers": []any{}}).said
}

// begin greets the agent and opens a session.
func (c *client) begin() {
	c.t.Helper()
	if err := c.greet(); err != nil {
		c.t.Fatalf("%v\n%s", err, c.said())
	}
	c.open()
}

func promptOf(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]string{"type": "text", "text": text}}}
}

func (c *client) prompt(session, text string) error {
	_, err := c.request("session/prompt", promptOf(session, text))
	return err
}

// say is a prompt that must be answered, and returns all that is said.
func (c *client) say(session, text string) string {
	c.t.Helper()
	return c.call("session/prompt", promptOf(session, text)).said
}

// sendPrompt begins a turn.
func (c *client) sendPrompt(text string) (id int) {
	c.t.Helper()
	id = c.id
	c.id++
	c.send(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,`+
		`"prompt":[{"type":"text","text":%q}]}}`, id, c.session, text)
	return id
}

// beginTurn begins a turn and reads its first words.
func (c *client) beginTurn() {
	c.t.Helper()
	c.sendPrompt("Good morning.")
	c.until("word 0")
}

func (c *client) cancel() {
	c.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, c.session)
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if err := c.write(fmt.Sprintf(format+"\n", args...)); err != nil {
		c.t.Fatalf("%v\n%s", err, c.said())
	}
}

func (c *client) write(text string) error {
	c.sent.WriteString(text)
	_, err := io.WriteString(c.in, text)
	return err
}

// until reads to the line that has text.
func (c *client) until(text string) string {
	c.t.Helper()
	line, err := c.readTo(text, io.Discard)
	if err != nil {
		c.t.Fatalf("waiting for %s: %v\n%s", text, err, c.said())
	}
	return line
}

func (c *client) readTo(text string, all io.Writer) (line string, err error) {
	if err := c.out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	for {
		line, err := c.read.ReadString('\n')
		_, _ = io.WriteString(all, line) // into memory
		if strings.Contains(line, text) || err != nil {
			return line, err
		}
	}
}

// rest reads what is still said, to its end.
func (c *client) rest() string {
	c.t.Helper()
	if err := c.out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	rest, err := io.ReadAll(c.read)
	if err != nil {
		c.t.Errorf("reading to the end: %v", err)
	}
	return string(rest)
}

// hangUp closes the proxy's stdin.
func (c *client) hangUp() { c.in.Close() }

// end hangs up; the proxy has gone when it returns.
func (c *client) end() {
	c.hangUp()
	_, _ = io.Copy(io.Discard, c.read) // it may have been killed
	c.within(patience)
}

// vanish ends the connection as a client does that is killed.
func (c *client) vanish() {
	c.hangUp()
	c.out.Close()
	c.within(patience)
}

// within waits that long for the proxy to end.
func (c *client) within(d time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// code waits for the proxy's end and returns its exit code, -1 when a signal ended it.
func (c *client) code() int {
	c.t.Helper()
	if !c.within(patience) {
		c.t.Fatal("the proxy does not end")
	}
	return c.cmd.ProcessState.ExitCode()
}

// said is what people were told, once the proxy has ended, but for what the first start with a database says.
func (c *client) said() string {
	select {
	case <-c.ended:
		return onceSaid.ReplaceAllString(c.stderr.String(), "")
	default:
		return "(still running)"
	}
}

var onceSaid = regexp.MustCompile(`(?m)^signet-acp-proxy: conversations are saved in .*\n`)

// noted are the signals that the harness got.
func (c *client) noted() string {
	c.t.Helper()
	text, err := os.ReadFile(c.signals)
	must(c.box, err)
	return strings.TrimSpace(string(text))
}
