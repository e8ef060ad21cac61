package tryout

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
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What is said in the two sessions, and what the second must be told.
const (
	Told   = "Remember this for later: the mast of the Curlew is 11.42 metres long."
	Asked  = "How long is the mast of the Curlew?"
	wanted = "11.42 metres"
)

// EchoWord is the command of ours that is Echo.
const EchoWord = "echo-agent"

const (
	limit    = 30 * time.Second // for all sessions
	attempts = 4
	endLimit = 3 * time.Second // for a relay to end by itself
)

// ErrNotTold says that the second session was not told what was said in the first.
var ErrNotTold = errors.New("the second session was not told what the first one said")

// Run has the two sessions through our own program, in folders of its own that it removes, and gives what the second
// was told about it. Nothing of the person's is read or written.
func Run(ctx context.Context) (line string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "signet-acp-proxy-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if _, err := session(ctx, self, dir, "tryout-1", Told); err != nil {
		return "", fmt.Errorf("the first session: %w", err)
	}
	// On a busy machine a prompt goes on without its memories rather than wait for them. That is as it should be, and
	// not what is asked here.
	for i := range attempts {
		answer, err := session(ctx, self, dir, fmt.Sprintf("tryout-%d", i+2), Asked)
		if err != nil {
			return "", fmt.Errorf("the second session: %w", err)
		}
		for line := range strings.Lines(answer) {
			if strings.Contains(line, wanted) {
				return strings.TrimSpace(line), nil
			}
		}
	}
	return "", ErrNotTold
}

// session has one prompt answered in a session of its own, and gives the answer.
func session(ctx context.Context, self, dir, id, prompt string) (string, error) {
	signet := filepath.Join(dir, "agents")
	agent := exec.CommandContext(ctx, self, "--memory", "embedded", "--signet-path", signet, "--agent", "echo", "--",
		self, EchoWord, id)
	agent.Dir = dir
	agent.Env = environment()
	agent.WaitDelay = endLimit
	var said bytes.Buffer
	agent.Stderr = &said
	in, err := agent.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := agent.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := agent.Start(); err != nil {
		return "", err
	}
	answer, err := converse(in, out, dir, id, prompt)
	if err != nil {
		_ = agent.Process.Kill()
	}
	err = errors.Join(err, in.Close())
	_, _ = io.Copy(io.Discard, out)
	if ended := agent.Wait(); err == nil {
		err = ended
	}
	if err != nil && said.Len() > 0 {
		err = fmt.Errorf("%w (%s)", err, bytes.TrimSpace(said.Bytes()))
	}
	return answer, err
}

// environment is ours without what would switch the relay off or point it elsewhere, and with patience.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SIGNET_") })
	return append(env, "SIGNET_ACP_HOLD=5s", "SIGNET_ACP_DATABASE_WAIT=2s")
}

// converse is the client's part of a session with one prompt.
func converse(in io.Writer, out io.Reader, dir, id, prompt string) (string, error) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	var answer strings.Builder
	for i, request := range []struct {
		method string
		params any
	}{
		{"initialize", map[string]any{
			"protocolVersion": 1, "clientCapabilities": struct{}{},
			"clientInfo": map[string]string{"name": "signet-acp-proxy init", "version": "1"}}},
		{"session/new", map[string]any{"cwd": dir, "mcpServers": []any{}}},
		{"session/prompt", map[string]any{"sessionId": id, "prompt": []content{{"text", prompt}}}},
	} {
		if err := write(in, map[string]any{"jsonrpc": "2.0", "id": i, "method": request.method,
			"params": request.params}); err != nil {
			return "", err
		}
		if err := reply(lines, i, &answer); err != nil {
			return "", fmt.Errorf("%s: %w", request.method, err)
		}
	}
	return answer.String(), nil
}

// reply reads up to the answer to a request, and collects what the agent says on the way.
func reply(lines *bufio.Scanner, id int, answer *strings.Builder) error {
	for lines.Scan() {
		var message struct {
			ID    *int `json:"id"`
			Error *struct {
				Message string `json:"message"`
			} `json:"error"`
			Params struct {
				Update struct {
					Content content `json:"content"`
				} `json:"update"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &message); err != nil {
			return err
		}
		if message.ID == nil {
			answer.WriteString(message.Params.Update.Content.Text)
			continue
		}
		if *message.ID != id {
			continue
		}
		if message.Error != nil {
			return errors.New(message.Error.Message)
		}
		return nil
	}
	return errors.Join(errors.New("the agent ended without an answer"), lines.Err())
}
