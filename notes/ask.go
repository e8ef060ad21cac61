package notes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/memory/privacy"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

const (
	askLimit   = 120 * time.Second // from its start to its answer
	leaveLimit = time.Second       // from the end of its stdin to TERM
	killLimit  = 1200 * time.Millisecond
	maxAnswer  = 64 << 10 // bytes
	maxReason  = 300      // bytes of an error
)

// Refused says why no agent can be asked for notes here; nil where one can.
func Refused() error {
	if err := bounds.Check(); err != nil {
		return fmt.Errorf("no notes here: the system cannot confine the agent that writes them (%w)", err)
	}
	return nil
}

// ask starts got's agent, in an empty folder and a home of its own, asks it once, and notes what that cost. The relay
// before it passes everything unchanged and records nothing; what the agent stores goes with its home. Of what it is
// used to, it has its login and its provider.
func (w Writer) ask(ctx context.Context, got *Written, profile upstream.Profile, text string) (
	answer string, err error) {
	root, err := os.MkdirTemp(w.Folder, "")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	place := bounds.Place{Tree: filepath.Join(root, "work"), State: filepath.Join(root, "state"), Reads: w.Reads,
		Memory: w.Memory}
	for _, dir := range []string{place.Tree, place.State} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	process, err := upstream.Start(upstream.Options{Command: slices.Concat(w.Command, []string{"--agent", got.Agent}),
		Dir: place.Tree, Env: append(delegation.Outside(os.Environ()), place.Environment(), "SIGNET_BYPASS=1"),
		Stderr: io.Discard, Grace: leaveLimit, KillAfter: killLimit})
	if err != nil {
		return "", err
	}
	l := &listener{got: got, stop: cancel}
	l.conn = acpclient.New(process.Stdin, l)
	var reading guard.Group
	reading.Go("agent's notes", func() { l.conn.Read(process.Stdout) })
	err = w.converse(ctx, l, profile, place.Tree, text)
	if err != nil {
		process.Terminate(syscall.SIGTERM)
	} else {
		process.Hangup()
	}
	reading.Wait()
	exit := process.Wait()
	l.conn.WaitWrites()
	if l.called {
		err = errors.New("it called a tool")
	}
	return l.text.String(), explained(err, got.Agent, exit, process.LastStderr())
}

// converse opens a session, with the cheapest model that is known, and sends the prompt.
func (w Writer) converse(ctx context.Context, l *listener, profile upstream.Profile, cwd, text string) error {
	conn := l.conn
	if _, err := conn.Initialize(ctx, w.Version); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	session, err := conn.NewSession(ctx, cwd)
	if err != nil {
		return fmt.Errorf("session/new: %w", err)
	}
	model := session.Offered(acpclient.Model, slices.Concat([]string{w.Model}, profile.CheapModels)...)
	if l.got.Model = model; model != "" {
		if err := conn.Choose(ctx, session, acpclient.Model, model); err != nil {
			return fmt.Errorf("choosing the model %s: %w", model, err)
		}
	}
	if profile.Bounded == nil && session.HasMode(profile.ReadMode) {
		if err := conn.SetMode(ctx, session.ID, profile.ReadMode); err != nil {
			return fmt.Errorf("setting its read-only mode: %w", err)
		}
	}
	l.listen()
	turn, err := conn.Prompt(ctx, session.ID, text)
	if n, ok := turn.Tokens(); ok {
		l.got.Tokens = &n
	}
	if err == nil && turn.Stop != acp.StopReasonEndTurn {
		err = fmt.Errorf("its turn ended with %s", chars.Cut(string(turn.Stop), 40))
	}
	return err
}

// explained is an error in a line that says what to do.
func explained(err error, agent string, exit upstream.Exit, last []string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	switch {
	case acpclient.NeedsLogin(err):
		text += fmt.Sprintf("; log %s in first: run signet-acp-proxy --agent %[1]s on a terminal", agent)
	case errors.Is(err, context.DeadlineExceeded):
		text = fmt.Sprintf("no answer within %v", askLimit)
	case errors.Is(err, acpclient.ErrEnded):
		text += fmt.Sprintf(" (%s): %s", exit, strings.Join(last[max(0, len(last)-3):], "; "))
	}
	return errors.New(chars.Cut(privacy.Line(text), maxReason))
}

// A listener keeps an agent's answer, and refuses everything else.
type listener struct {
	conn *acpclient.Conn
	got  *Written // its cost is noted by who reads, all else by who asks
	stop context.CancelFunc

	mu      sync.Mutex // guards what follows, until the agent has ended
	listens bool       // the prompt was sent: what an agent says before is a notice
	text    strings.Builder
	called  bool // it called a tool
}

var _ acpclient.Handler = (*listener)(nil)

// Update implements acpclient.Handler. A call of a tool ends the turn: it would cost a second request.
func (l *listener) Update(u acpclient.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.listens:
	case u.Kind == "agent_message_chunk" && l.text.Len() < maxAnswer:
		l.text.WriteString(u.Content.Text)
	case u.Kind == "tool_call":
		l.called = true
		l.stop()
	case u.Cost != nil:
		amount := u.Cost.Amount
		l.got.Cost, l.got.Currency = &amount, chars.Cut(u.Cost.Currency, 10)
	}
}

// Allow implements acpclient.Handler.
func (l *listener) Allow(_ acpclient.ToolCall, answer func(allowed bool)) { answer(false) }

func (l *listener) listen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listens = true
}
