package delegation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// converse starts the agent behind a proxy of its own and has it do the task.
func (r *run) converse() Delegation {
	command := slices.Concat(r.Command, []string{"--agent", r.d.Agent})
	process, err := upstream.Start(upstream.Options{Command: command, Env: childEnvironment(r.d, r.place),
		Stderr: io.Discard, Grace: leaveLimit, KillAfter: killLimit})
	if err != nil {
		return r.ended(Failed, err.Error())
	}
	asking, quiet := context.WithCancel(r.ctx)
	defer quiet()
	if r.Ask {
		r.child.ask = func(call acpclient.ToolCall) (bool, string) {
			return r.Ledger.askCaller(asking, r.d, questionOf(r.d, call))
		}
	}
	conn := acpclient.New(process.Stdin, r.child)
	var reading guard.Group
	reading.Go("child's words", func() { conn.Read(process.Stdout) })
	turn, err := r.prompt(conn)
	if r.ctx.Err() != nil && err != nil {
		process.Terminate(syscall.SIGTERM)
	} else {
		process.Hangup()
	}
	quiet()
	reading.Wait()
	r.child.asking.Wait()
	exit := process.Wait()
	conn.WaitWrites()
	if r.inPlace || !endedWell(exit) {
		r.keep = false
	}
	r.child.ended(turn)
	o := r.ended(Done, "")
	switch {
	case err == nil && turn.Stop == acp.StopReasonCancelled:
		o.State, o.Reason = Cancelled, "the agent reported that it was cancelled"
	case err != nil:
		o.State, o.Reason = Failed, r.reason(err, exit, process.LastStderr())
	}
	r.child.end(&o)
	r.untold(&o)
	o.Stop = chars.Cut(string(turn.Stop), 40)
	return o
}

// endedWell reports whether the child's relay came to its end: else a copy of a login may be left. An agent that takes
// its time to leave, as codex does, was told to end.
func endedWell(e upstream.Exit) bool {
	return e.Signal == 0 && (e.Code == 0 || e.Code == 128+int(syscall.SIGTERM))
}

// prompt opens a session, sends the task and what the child is told beside it, and waits for the end of the last turn.
func (r *run) prompt(conn *acpclient.Conn) (t acpclient.Turn, err error) {
	var words []word
	opening, cancel := context.WithTimeout(r.ctx, openLimit)
	defer cancel()
	agent, err := conn.Initialize(opening, r.Version)
	if err != nil {
		return t, fmt.Errorf("initialize: %w", err)
	}
	opening, cancel = context.WithTimeout(r.ctx, openLimit)
	defer cancel()
	session, err := r.open(opening, conn, agent)
	if err != nil {
		return t, err
	}
	r.keep, r.takes = agent.Reopens(), agent.Steers()
	r.child.opened(r.child.noted().Folder, session.ID)
	r.note(r.ctx)
	set, err := r.mustSetMode(session.HasMode(r.readMode))
	if err != nil {
		return t, err
	}
	if set {
		if err := conn.SetMode(opening, session.ID, r.readMode); err != nil {
			return t, fmt.Errorf("setting its read-only mode: %w", err)
		}
	}
	if err := r.choose(opening, conn, session); err != nil {
		return t, err
	}
	defer func() {
		r.child.mu.Lock()
		commands := slices.Clone(r.child.commands)
		r.child.mu.Unlock()
		if err := r.Ledger.noteAgent(context.WithoutCancel(r.ctx), r.d.Agent, agent, commands); err != nil {
			r.Log.Warn().Err(err).Msg("noting what an agent says of itself")
		}
	}()
	r.child.taskSent()
	for text := prompt(r.d, r.task, r.Ask); ; text = nextPrompt(words) {
		if t, err = r.turn(conn, session.ID, text); err != nil || t.Stop != acp.StopReasonEndTurn {
			return t, err
		}
		if words = r.wordsNext(); len(words) == 0 {
			return t, nil
		}
		r.child.ended(t)
		r.child.nextTurn()
	}
}

// turn sends a prompt and waits for the end of its turn.
func (r *run) turn(conn *acpclient.Conn, session, text string) (t acpclient.Turn, err error) {
	answered := make(chan error, 1)
	asking, giveUp := context.WithCancel(context.WithoutCancel(r.ctx))
	defer giveUp()
	guard.Go("delegation", func() {
		answered <- guard.Try("delegation", func() (err error) {
			t, err = conn.Prompt(asking, session, text)
			return err
		})
	})
	var look <-chan time.Time
	if r.takes {
		tick := time.NewTicker(steerEvery)
		defer tick.Stop()
		look = tick.C
	}
	for waits := true; waits; {
		select {
		case err := <-answered:
			return t, err
		case <-look:
			r.steer(conn, session)
		case <-r.ctx.Done():
			waits = false
		}
	}
	late := time.AfterFunc(cancelLimit, giveUp)
	defer late.Stop()
	conn.Cancel(session)
	err = <-answered
	if err == nil {
		err = r.ctx.Err()
	}
	return t, err
}

// steer gives the child what it is to be told in its turn. What it does not take there, or perhaps not, is its next
// prompt.
func (r *run) steer(conn *acpclient.Conn, session string) {
	words := r.taken(false)
	if len(words) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, steerLimit)
	defer cancel()
	taken, err := conn.Steer(ctx, session, nextPrompt(words))
	if err != nil {
		r.Log.Info().Err(err).Str("delegation", r.d.ID).Msg("telling it in its turn")
	}
	if !taken {
		r.later = append(r.later, words...)
	}
}

// untold notes what the child was not told before it ended.
func (r *run) untold(o *Delegation) {
	for words := r.wordsNext(); len(words) > 0; words = r.wordsNext() {
		for _, w := range words {
			o.Refused = append(o.Refused, "it ended before this prompt: "+chars.Cut(w.Text, 200))
		}
	}
}

// wordsNext returns what the child is to be told next. Where nothing is, it is told nothing any more.
func (r *run) wordsNext() []word {
	if words := r.later; len(words) > 0 {
		r.later = nil
		return words
	}
	return r.taken(true)
}

// taken takes what waits for the child; none where the database cannot say. leaves: without any the child leaves.
func (r *run) taken(leaves bool) []word {
	words, err := r.Ledger.takeWords(context.WithoutCancel(r.ctx), r.d.ID, leaves)
	if err != nil {
		r.Log.Warn().Err(err).Str("delegation", r.d.ID).Msg("looking for what it is to be told")
		return nil
	}
	return words
}

// open opens the child's session: a new one or, in a follow-up, the one that was.
func (r *run) open(ctx context.Context, conn *acpclient.Conn, agent acpclient.Agent) (s acpclient.Session, err error) {
	switch {
	case r.d.Continues == "":
		s, err = conn.NewSession(ctx, r.cwd)
	case !agent.Reopens():
		return s, errors.New("it cannot load a session: delegate again, with everything it must know")
	default:
		r.child.reopening()
		s, err = conn.Reopen(ctx, agent, r.d.ACPID, r.cwd)
	}
	switch {
	case err != nil:
		return s, fmt.Errorf("opening its session: %w", err)
	case s.ID == "":
		return s, errors.New("session/new: the agent's answer names no session")
	}
	return s, nil
}

// mustSetMode reports whether a session is to be put into the mode in which its agent only reads. The error says why it
// may not begin: nothing else keeps it from writing, and the session does not have that mode.
func (r *run) mustSetMode(has bool) (bool, error) {
	switch {
	case r.d.Mode == Read && has:
		return true, nil
	case r.place != nil:
		return false, nil
	case r.inPlace:
		return false, errors.New("it has no read-only mode, and the folder is too large to copy")
	case r.d.Mode == Read && r.readMode != "" && !r.Unbounded:
		return false, fmt.Errorf("its session has no mode %s, and nothing else keeps it from writing here", r.readMode)
	}
	return false, nil
}

// choose sets the model and the mode that were named. A mode could lift what keeps a child from writing.
func (r *run) choose(ctx context.Context, conn *acpclient.Conn, s acpclient.Session) error {
	mode := r.d.SessionMode
	if mode != "" && mode != r.readMode && (r.d.Mode == Read && r.readMode != "" || r.place == nil && !r.Unbounded) {
		return fmt.Errorf("session mode %q could allow it more than it may do here: omit session_mode", mode)
	}
	if mode != "" {
		if err := conn.Choose(ctx, s, acpclient.Mode, mode); err != nil {
			return err
		}
	}
	if r.d.Model != "" {
		return conn.Choose(ctx, s, acpclient.Model, r.d.Model)
	}
	return nil
}

// reason says in a line why the child failed, and what to do.
func (r *run) reason(err error, exit upstream.Exit, last []string) string {
	text := err.Error()
	switch {
	case acpclient.NeedsLogin(err):
		text += fmt.Sprintf("; log %s in first: run signet-acp-proxy --agent %s on a terminal", r.d.Agent, r.d.Agent)
	case errors.Is(err, context.DeadlineExceeded):
		text = strings.Replace(text, context.DeadlineExceeded.Error(), fmt.Sprintf("no answer within %v", openLimit), 1)
	case errors.Is(err, acpclient.ErrEnded):
		text += fmt.Sprintf(" (%s)", exit)
		if len(last) > 0 {
			text += ": " + strings.Join(last[max(0, len(last)-3):], "; ")
		}
	}
	return chars.Cut(text, 1000)
}
