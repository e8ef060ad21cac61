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

// A reply is what an agent has answered, and what that cost; nil where it does not say.
type reply struct {
	text     string
	model    string // that was chosen; "": the agent's own
	tokens   *int64
	cost     *float64
	currency string
}

// ask starts an agent, in an empty folder and a home of its own, and asks it once. The relay before it passes
// everything unchanged and records nothing; what the agent stores goes with its home. Of what it is used to, it has its
// login and its provider.
func (w Writer) ask(ctx context.Context, agent string, profile upstream.Profile, text string) (r reply, err error) {
	root, err := os.MkdirTemp(w.Folder, "")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	place := bounds.Place{Tree: filepath.Join(root, "work"), State: filepath.Join(root, "state"), Reads: w.Reads,
		Memory: w.Memory}
	for _, dir := range []string{place.Tree, place.State} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return r, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	process, err := upstream.Start(upstream.Options{Command: slices.Concat(w.Command, []string{"--agent", agent}),
		Dir: place.Tree, Env: append(delegation.Outside(os.Environ()), place.Environment(), "SIGNET_BYPASS=1"),
		Stderr: io.Discard, Grace: leaveLimit, KillAfter: killLimit})
	if err != nil {
		return r, err
	}
	l := &listener{stop: cancel}
	conn := acpclient.New(process.Stdin, l)
	var reading guard.Group
	reading.Go("agent's notes", func() { conn.Read(process.Stdout) })
	r, err = w.converse(ctx, conn, l, profile, place.Tree, text)
	if err != nil {
		process.Terminate(syscall.SIGTERM)
	} else {
		process.Hangup()
	}
	reading.Wait()
	exit := process.Wait()
	conn.WaitWrites()
	r.text, r.cost, r.currency = l.heard()
	if tool := l.called(); tool != "" {
		err = errors.New("it called a tool")
	}
	return r, explained(err, agent, exit, process.LastStderr())
}

// converse opens a session, with the cheapest model that is known, and sends the prompt.
func (w Writer) converse(ctx context.Context, conn *acpclient.Conn, l *listener, profile upstream.Profile, cwd,
	text string) (r reply, err error) {
	if _, err := conn.Initialize(ctx, "signet-acp-proxy", w.Version); err != nil {
		return r, fmt.Errorf("initialize: %w", err)
	}
	session, err := conn.NewSession(ctx, cwd)
	if err != nil {
		return r, fmt.Errorf("session/new: %w", err)
	}
	r.model = session.Offered(acpclient.Model, slices.Concat([]string{w.Model}, profile.CheapModels)...)
	if r.model != "" {
		if err := conn.Choose(ctx, session, acpclient.Model, r.model); err != nil {
			return r, fmt.Errorf("choosing the model %s: %w", r.model, err)
		}
	}
	if profile.Bounded == nil && session.HasMode(profile.ReadMode) {
		if err := conn.SetMode(ctx, session.ID, profile.ReadMode); err != nil {
			return r, fmt.Errorf("setting its read-only mode: %w", err)
		}
	}
	l.listen()
	turn, err := conn.Prompt(ctx, session.ID, text)
	if n, ok := turn.Tokens(); ok {
		r.tokens = &n
	}
	if err == nil && turn.Stop != acp.StopReasonEndTurn {
		err = fmt.Errorf("its turn ended with %s", chars.Cut(string(turn.Stop), 40))
	}
	return r, err
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
	stop context.CancelFunc

	mu       sync.Mutex // guards what follows
	listens  bool       // the prompt was sent: what an agent says before is a notice
	text     strings.Builder
	tool     string // that it called
	cost     *float64
	currency string
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
		l.tool = u.Title + " "
		l.stop()
	case u.Cost != nil:
		amount := u.Cost.Amount
		l.cost, l.currency = &amount, chars.Cut(u.Cost.Currency, 10)
	}
}

// Allow implements acpclient.Handler.
func (l *listener) Allow(_ acpclient.ToolCall, answer func(allowed bool)) { answer(false) }

func (l *listener) listen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listens = true
}

func (l *listener) heard() (text string, cost *float64, currency string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String(), l.cost, l.currency
}

func (l *listener) called() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tool
}
