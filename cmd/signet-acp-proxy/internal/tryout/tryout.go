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

// What is said in the two sessions, and what the second one must be told.
const (
	Statement = "Remember this for later: the mast of the Curlew is 11.42 metres long."
	Question  = "How long is the mast of the Curlew?"
	fact      = "11.42"
)

// EchoWord is our command that runs Echo.
const EchoWord = "echo-agent"

const (
	echoLimit    = 30 * time.Second // for both sessions, with Echo
	harnessLimit = 2 * time.Minute  // the same with a harness, which asks its model
	attempts     = 4
	endLimit     = 3 * time.Second // for the relay to end by itself
)

// ErrNotTold says that the second session was not told what was said in the first.
var ErrNotTold = errors.New("the second session was not told what the first one said")

// An Agent takes part in the sessions; the zero value is Echo.
type Agent struct {
	Name    string
	Command []string
}

// A Proof is the outcome of the second session.
type Proof struct {
	Given  string // the line of its context that tells what was said in the first
	Answer string // what the agent answered; Echo repeats all that it was told
}

// Run holds the two sessions through our own program, with a database and identity of their own, in a temporary folder.
// A harness uses the person's login. Errors: ErrNotTold, what failed.
func Run(ctx context.Context, a Agent) (proof Proof, err error) {
	self, err := os.Executable()
	if err != nil {
		return proof, err
	}
	dir, err := os.MkdirTemp("", "signet-acp-proxy-*")
	if err != nil {
		return proof, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	time, tries := echoLimit, attempts
	if a.Name != "" { // each attempt costs the person tokens
		time, tries = harnessLimit, 2
	} else {
		a = Agent{Name: "echo", Command: []string{self, EchoWord}}
	}
	ctx, cancel := context.WithTimeout(ctx, time)
	defer cancel()
	t := trial{self: self, dir: dir, agent: a}
	if _, _, err := t.session(ctx, Statement); err != nil {
		return proof, fmt.Errorf("the first session: %w", err)
	}
	// On a busy machine a prompt goes on without its memories rather than wait for them, so a few attempts are made.
	for range tries {
		id, answer, err := t.session(ctx, Question)
		if err != nil {
			return proof, fmt.Errorf("the second session: %w", err)
		}
		proof.Answer = answer
		if proof.Given, err = t.given(ctx, id); err != nil || proof.Given != "" && strings.Contains(answer, fact) {
			return proof, err
		}
	}
	if proof.Given == "" {
		return proof, ErrNotTold
	}
	return proof, nil
}

// A trial is a folder and the agent for the sessions.
type trial struct {
	self, dir string
	agent     Agent
}

func (t trial) signet() string { return filepath.Join(t.dir, "agents") }

// given gives the line of a session's context that has the fact; "" if none has.
func (t trial) given(ctx context.Context, id string) (string, error) {
	show := exec.CommandContext(ctx, t.self, "show", id, "--context", "--signet-path", t.signet())
	show.Env = environment()
	text, err := show.Output()
	if err != nil {
		return "", fmt.Errorf("looking at what was given: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, fact) {
			return strings.TrimPrefix(strings.TrimSpace(line), "- "), nil
		}
	}
	return "", nil
}

// session has one prompt answered in a new session, and gives its id and the answer.
func (t trial) session(ctx context.Context, prompt string) (id, answer string, err error) {
	agent := exec.CommandContext(ctx, t.self, slices.Concat(
		[]string{"--memory", "embedded", "--signet-path", t.signet(), "--agent", t.agent.Name, "--"},
		t.agent.Command)...)
	agent.Dir = t.dir
	agent.Env = environment()
	agent.WaitDelay = endLimit
	var said bytes.Buffer
	agent.Stderr = &said
	in, err := agent.StdinPipe()
	if err != nil {
		return "", "", err
	}
	out, err := agent.StdoutPipe()
	if err != nil {
		return "", "", err
	}
	if err := agent.Start(); err != nil {
		return "", "", err
	}
	id, answer, err = converse(in, out, t.dir, prompt)
	if err != nil {
		_ = agent.Process.Kill()
	}
	err = errors.Join(err, in.Close())
	_, _ = io.Copy(io.Discard, out)
	_ = agent.Wait() // a harness that answered and is slow to end has done what it was asked for
	if err != nil && said.Len() > 0 {
		err = fmt.Errorf("%w (%s)", err, bytes.TrimSpace(said.Bytes()))
	}
	return id, answer, err
}

// environment gives our environment without what would switch the relay off or redirect it, and with longer waits.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SIGNET_") })
	return append(env, "SIGNET_ACP_HOLD=5s", "SIGNET_ACP_DATABASE_WAIT=2s")
}

// converse is the client's part of a session with one prompt.
func converse(in io.Writer, out io.Reader, dir, prompt string) (session, answer string, err error) {
	c := client{in: in, lines: bufio.NewScanner(out)}
	c.lines.Buffer(nil, maxLine)
	var opened struct {
		SessionID string `json:"sessionId"`
	}
	err = c.call(&struct{}{}, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": struct{}{},
		"clientInfo": map[string]string{"name": "signet-acp-proxy init", "version": "1"}})
	if err == nil {
		err = c.call(&opened, "session/new", map[string]any{"cwd": dir, "mcpServers": []any{}})
	}
	if err == nil {
		err = c.call(&struct{}{}, "session/prompt", map[string]any{"sessionId": opened.SessionID,
			"prompt": []content{{"text", prompt}}})
	}
	return opened.SessionID, c.said.String(), err
}

// A client of one agent.
type client struct {
	in    io.Writer
	lines *bufio.Scanner
	calls int
	said  strings.Builder // by the agent
}

// A message from the agent.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
	Params struct {
		Update struct {
			Kind    string          `json:"sessionUpdate"`
			Content json.RawMessage `json:"content"` // of a text, or of other things
		} `json:"update"`
	} `json:"params"`
}

// call sends a request, collects what the agent says before the response, and refuses the agent's requests.
func (c *client) call(result any, method string, params any) error {
	c.calls++
	id := fmt.Sprint(c.calls)
	err := write(c.in, map[string]any{"jsonrpc": "2.0", "id": c.calls, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for c.lines.Scan() {
		var m message
		if err := json.Unmarshal(c.lines.Bytes(), &m); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		switch {
		case m.Method == "session/update":
			var text content
			if m.Params.Update.Kind == "agent_message_chunk" && json.Unmarshal(m.Params.Update.Content, &text) == nil {
				c.said.WriteString(text.Text)
			}
		case m.Method != "" && m.ID != nil:
			if err := write(c.in, map[string]any{"jsonrpc": "2.0", "id": m.ID,
				"error": map[string]any{"code": -32601, "message": "not here"}}); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		case m.Method != "" || string(m.ID) != id:
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
	return fmt.Errorf("%s: %w", method, errors.Join(errors.New("the agent ended without an answer"), c.lines.Err()))
}
