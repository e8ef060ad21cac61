package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A client drives the proxy in front of an unruly harness, a line at a time.
type client struct {
	*box
	t       *testing.T
	cmd     *exec.Cmd
	in      *os.File // the proxy's stdin
	out     *os.File // the proxy's stdout
	read    *bufio.Reader
	stderr  bytes.Buffer
	signals string // the file of the signals that the harness got
	id      int
	ended   chan struct{}
	session string
}

// unleash starts the proxy in front of a harness that behaves as the words say.
func (b *box) unleash(t *testing.T, words string, flags ...string) *client {
	t.Helper()
	c := &client{box: b, t: t, ended: make(chan struct{})}
	signals, err := os.CreateTemp(b.Dir, "signals-")
	if err != nil {
		t.Fatal(err)
	}
	c.signals = signals.Name()
	signals.Close()
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	command := append(append([]string{proxyBin, "--agent", "unruly", "--memory", "embedded"}, flags...), "--", self)
	command = append(slices.Clone(b.wrap), command...)
	c.cmd = b.Command(ctx, []string{unrulyVariable + "=" + words, signalsFile + "=" + c.signals}, command...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = stdin, stdout, &c.stderr
	err = c.cmd.Start()
	stdin.Close()
	stdout.Close()
	if err != nil {
		t.Fatal(err)
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
	return c
}

// hangUp closes the proxy's stdin.
func (c *client) hangUp() { c.in.Close() }

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, format+"\n", args...); err != nil {
		c.t.Fatalf("%v\n%s", err, c.said())
	}
}

// until reads to the line that has text.
func (c *client) until(text string) string {
	c.t.Helper()
	if err := c.out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	for {
		line, err := c.read.ReadString('\n')
		if strings.Contains(line, text) {
			return line
		}
		if err != nil {
			c.t.Fatalf("waiting for %s: %v\n%s", text, err, c.said())
		}
	}
}

// call sends a request and reads to its response.
func (c *client) call(method, params string) string {
	c.t.Helper()
	id := c.id
	c.id++
	c.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
	return c.until(fmt.Sprintf(`"id":%d,`, id))
}

// open initializes and opens a session.
func (c *client) open() {
	c.t.Helper()
	c.call("initialize", `{"protocolVersion":1,"clientInfo":{"name":"tester","version":"1"}}`)
	c.openSession()
}

func (c *client) openSession() {
	c.t.Helper()
	answer := c.call("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, c.Work))
	_, id, _ := strings.Cut(answer, `"sessionId":"`)
	c.session, _, _ = strings.Cut(id, `"`)
}

// prompt begins a turn and reads its first words.
func (c *client) prompt() (id int) {
	c.t.Helper()
	id = c.sendPrompt("Good morning.")
	c.until("word 0")
	return id
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

func (c *client) cancel() {
	c.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, c.session)
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

// within waits that long for the proxy to end.
func (c *client) within(d time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// code waits for the proxy's end and gives its exit code, -1 when a signal ended it.
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

var onceSaid = regexp.MustCompile(`(?m)^signet-acp-proxy: conversations are recorded in .*\n`)

// noted are the signals that the harness got.
func (c *client) noted() string {
	c.t.Helper()
	text, err := os.ReadFile(c.signals)
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
