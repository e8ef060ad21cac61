package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
)

// A caller is a client whose connection may break at any moment, which is an error of its calls and nothing to fail a
// test for.
type caller struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Closer
	frames *bufio.Scanner
	id     int
}

// dial starts the proxy in front of a harness.
func (b *box) dial(ctx context.Context, flags []string, harness ...string) (*caller, error) {
	return call(b.Command(ctx, nil,
		append(append(append([]string{proxyBin}, flags...), "--agent", "echo", "--"), harness...)...))
}

// dialSession starts the proxy in front of a harness, and opens a session; all of it has the test's patience.
func (b *box) dialSession(flags []string, harness ...string) (c *caller, session string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	b.t.Cleanup(cancel)
	c, err := b.dial(ctx, flags, harness...)
	must(b, err)
	session, err = c.newSession(b.Work)
	must(b, err)
	return c, session
}

// call starts a command and greets the agent that it is.
func call(cmd *exec.Cmd) (*caller, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &caller{cmd: cmd, in: in, out: out, frames: bufio.NewScanner(out)}
	c.frames.Buffer(nil, 16<<20)
	_, err = c.call("initialize", map[string]any{"protocolVersion": 1})
	return c, err
}

// call sends a request and gives its result.
func (c *caller) call(method string, params map[string]any) (json.RawMessage, error) {
	c.id++
	if err := json.NewEncoder(c.in).Encode(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method,
		"params": params}); err != nil {
		return nil, err
	}
	for c.frames.Scan() {
		var frame struct {
			ID            *int
			Method        string
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(c.frames.Bytes(), &frame); err != nil {
			return nil, err
		}
		if frame.ID == nil || *frame.ID != c.id || frame.Method != "" {
			continue
		}
		if frame.Error != nil {
			return nil, errors.New(string(frame.Error))
		}
		return frame.Result, nil
	}
	return nil, errors.Join(io.ErrUnexpectedEOF, c.frames.Err())
}

func (c *caller) newSession(cwd string) (string, error) {
	result, err := c.call("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}})
	if err != nil {
		return "", err
	}
	var s struct{ SessionID string }
	return s.SessionID, json.Unmarshal(result, &s)
}

func (c *caller) prompt(session, text string) error {
	_, err := c.call("session/prompt", map[string]any{"sessionId": session,
		"prompt": []any{map[string]string{"type": "text", "text": text}}})
	return err
}

// hangUp ends the connection as a client does that goes away; the proxy has gone when it returns.
func (c *caller) hangUp() {
	c.in.Close()
	for c.frames.Scan() {
	}
	c.cmd.Wait() // it may have been killed
}

// vanish ends the connection as a client does that is killed.
func (c *caller) vanish() {
	c.in.Close()
	c.out.Close()
	c.cmd.Wait()
}
