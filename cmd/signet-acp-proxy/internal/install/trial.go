package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// What is said in the two sessions, and what the second one must be told.
const (
	statement = "Remember this for later: the mast of the Curlew is 11.42 metres long."
	question  = "How long is the mast of the Curlew?"
	fact      = "11.42"
)

// EchoWord is our command that runs package echo.
const EchoWord = "echo-agent"

const (
	echoLimit    = 30 * time.Second // for both sessions, with package echo
	harnessLimit = 2 * time.Minute  // the same with a harness, which asks its model
	attempts     = 4
	endLimit     = 3 * time.Second // for the relay to end by itself
)

// errNotTold says that the second session was not told what was said in the first.
var errNotTold = errors.New("the second session did not get what the first one said")

// A trialAgent takes part in the sessions; the zero value is package echo.
type trialAgent struct {
	Name    string
	Command []string
}

// A proof is the outcome of the second session.
type proof struct {
	given  string // the line of its context that tells what was said in the first
	answer string // what the agent answered; echo repeats all that it was told
}

// remembers shows that memory works: it holds the two sessions through our own program, with a database and identity of
// their own, in a temporary folder, and says what the second was told of the first. A harness uses the person's login.
// Errors: errNotTold, what failed.
func remembers(ctx context.Context, a trialAgent) (p proof, err error) {
	self, err := os.Executable()
	if err != nil {
		return p, err
	}
	dir, err := os.MkdirTemp("", "signet-acp-proxy-*")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir) // on Windows it fails where something still holds a file; the proof stands
	time, tries := echoLimit, attempts
	if a.Name != "" { // each attempt costs the person tokens
		time, tries = harnessLimit, 2
	} else {
		a = trialAgent{Name: "echo", Command: []string{self, EchoWord}}
	}
	ctx, cancel := context.WithTimeout(ctx, time)
	defer cancel()
	t := trial{self: self, dir: dir, agent: a}
	if _, _, err := t.session(ctx, statement); err != nil {
		return p, fmt.Errorf("the first session: %w", err)
	}
	// On a busy machine a prompt goes on without its memories rather than wait for them, so a few attempts are made.
	for range tries {
		id, answer, err := t.session(ctx, question)
		if err != nil {
			return p, fmt.Errorf("the second session: %w", err)
		}
		p.answer = answer
		if p.given, err = t.given(ctx, id); err != nil || p.given != "" && strings.Contains(answer, fact) {
			return p, err
		}
	}
	if p.given == "" {
		return p, errNotTold
	}
	return p, nil
}

// A trial is a folder and the agent for the sessions.
type trial struct {
	self, dir string
	agent     trialAgent
}

func (t trial) signet() string { return filepath.Join(t.dir, "agents") }

// given returns the line of a session's context that has the fact; "" if none has.
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

// session has one prompt answered in a new session, and returns its id and the answer.
func (t trial) session(ctx context.Context, prompt string) (id, answer string, err error) {
	ctx, kill := context.WithCancel(ctx)
	defer kill()
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
	id, answer, err = converse(ctx, kill, in, out, t.dir, prompt)
	_ = agent.Wait() // a harness that answered and is slow to end has done what it was asked for
	if err != nil && said.Len() > 0 {
		err = fmt.Errorf("%w (%s)", err, bytes.TrimSpace(said.Bytes()))
	}
	return id, answer, err
}

// environment returns our environment without what would switch the relay off or redirect it, and with longer waits.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SIGNET_") })
	return append(env, "SIGNET_ACP_HOLD=5s", "SIGNET_ACP_DATABASE_WAIT=2s")
}

// converse is the client's part of a session with one prompt. It kills an agent that fails.
func converse(
	ctx context.Context, kill func(), in io.WriteCloser, out io.Reader, dir, prompt string,
) (session, answer string, err error) {
	var said words
	conn := acpclient.New(in, &said)
	read := make(chan struct{})
	guard.Go("trial", func() {
		defer close(read)
		conn.Read(out)
	})
	defer func() {
		if err != nil {
			kill()
		}
		err = errors.Join(err, in.Close())
		<-read
		conn.WaitWrites()
		answer = said.String()
	}()
	if _, err = conn.Initialize(ctx, "signet-acp-proxy init", "1"); err != nil {
		return "", "", fmt.Errorf("initialize: %w", err)
	}
	opened, err := conn.NewSession(ctx, dir)
	if err != nil {
		return "", "", fmt.Errorf("session/new: %w", err)
	}
	if _, err = conn.Prompt(ctx, opened.ID, prompt); err != nil {
		return "", "", fmt.Errorf("session/prompt: %w", err)
	}
	return opened.ID, "", nil
}

// words are what an agent says. It may do nothing.
type words struct{ strings.Builder }

func (w *words) Update(u acpclient.Update) {
	if u.Kind == "agent_message_chunk" {
		w.WriteString(u.Content.Text)
	}
}

func (*words) Allow(_ acpclient.ToolCall, answer func(bool)) { answer(false) }
