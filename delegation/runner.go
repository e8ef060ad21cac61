package delegation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	acp "github.com/coder/acp-go-sdk"
	"github.com/oklog/ulid/v2"
	"github.com/rs/zerolog"

	"github.com/Signet-AI/signet-acp-proxy/acpclient"
	"github.com/Signet-AI/signet-acp-proxy/chars"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/delegation/bounds"
	"github.com/Signet-AI/signet-acp-proxy/delegation/worktree"
	"github.com/Signet-AI/signet-acp-proxy/guard"
	"github.com/Signet-AI/signet-acp-proxy/upstream"
)

// Variable is the environment variable with the id of the delegation that a process works for. Whatever continues it,
// through a shell too, is that child.
const Variable = "SIGNET_ACP_DELEGATION"

// Further variables of a child: how deep it is nested, by which it is offered tools for delegating or not (the ledger
// does not trust it), and the Signet key of the session that asked.
const (
	depthVariable  = "SIGNET_ACP_DELEGATION_DEPTH"
	CallerVariable = "SIGNET_ACP_CALLER"
)

// Inside returns the delegation that a process with this environment works for, "" for none. The variable may also hold
// the setting of the same name, on or off.
func Inside(environment func(string) string) string {
	id := environment(Variable)
	if _, err := ulid.ParseStrict(id); err != nil {
		return ""
	}
	return id
}

// AtDepthLimit reports whether a process with this environment is a child that may not delegate.
func AtDepthLimit(environment func(string) string) bool {
	depth, _ := strconv.Atoi(environment(depthVariable))
	return Inside(environment) != "" && depth >= DefaultDepth
}

// Limits of a run.
const (
	openLimit  = time.Minute            // for initialize and session/new, each
	watchEvery = 100 * time.Millisecond // how often it is checked whether the run is to end
	noteEvery  = time.Second            // how often progress is saved
	diskEvery  = time.Second            // how often it is measured what the child has written
	// A cancelled child has cancelLimit to end its turn, then gets SIGTERM, and killLimit later SIGKILL: within two
	// seconds.
	cancelLimit = 400 * time.Millisecond
	killLimit   = 1200 * time.Millisecond
	leaveLimit  = time.Second      // from the end of its stdin to SIGTERM, when its work is done
	endLimit    = 30 * time.Second // for taking the work back and storing the end
)

// A Runner carries out one delegation, in a process of its own.
type Runner struct {
	Ledger    *Ledger
	LiveDir   string   // the folder with the lock files of living processes
	Command   []string // the relay's command line without --agent and the name
	Env       []string // its environment; nil: ours
	Folders   string   // the folder in which the children's folders are made
	Version   string   // ours
	Bounded   bool     // the system keeps children to their folders
	Setup     []string // commands that are run in a child's folder before it works there
	Copy      []string // what it gets although git ignores it
	Disk      int64    // how many bytes it may write; 0: no limit
	Closed    []string // folders that no command of Setup may reach
	Unbounded bool     // a person lets children do what neither the system nor they themselves bound
	Ask       bool     // the caller's client is asked for what is not granted
	Granted   []string // kinds of tools that need a permission and have it: execute, fetch
	// ReadMode returns the mode in which an agent writes nothing, "" where none is known.
	ReadMode func(agent string) string
	// Made, if not nil, is called with a delegation's folder before the child works there.
	Made func(d Delegation, folder string) error
	// Ended, if not nil, is called with the outcome before it is stored.
	Ended func(ctx context.Context, d Delegation, o Outcome)
	Log   zerolog.Logger
}

// Run carries a delegation out, unless another process does or it may not begin any more. Errors are the database's;
// how the run went is in the row.
func (r Runner) Run(ctx context.Context, id string, told Assignment) error {
	lock, err := correlation.TakeLock(r.LiveDir, correlation.NewProcessID())
	if err != nil {
		return err
	}
	defer lock.Release()
	d, err := r.Ledger.Begin(ctx, id, lock.ID())
	if errors.Is(err, ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	r.Log.Info().Str("delegation", d.ID).Str("agent", d.Agent).Int("depth", d.Depth).Msg("delegation begins")
	o := r.carryOut(ctx, d, lock.ID(), told)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	if r.Ended != nil {
		r.Ended(end, d, o)
	}
	for err = r.Ledger.End(end, d.ID, lock.ID(), o); err != nil && !errors.Is(err, ErrTaken) && end.Err() == nil; {
		select {
		case <-time.After(noteEvery): // the disk may be full for a while
		case <-end.Done():
		}
		err = r.Ledger.End(end, d.ID, lock.ID(), o)
	}
	r.Log.Info().Str("delegation", d.ID).Str("state", string(o.State)).Msg("delegation ended")
	r.tidy(end)
	return err
}

// tidy removes the folders of runs that were killed, and trees that are kept no longer.
func (r Runner) tidy(ctx context.Context) {
	err := r.Ledger.Shed(ctx, r.Folders, MostTrees)
	left, failed := r.Ledger.leftovers(ctx)
	err = errors.Join(err, failed)
	for _, d := range left {
		if err == nil {
			err = r.Ledger.Discard(ctx, r.Folders, d)
		}
	}
	if err != nil {
		r.Log.Warn().Err(err).Msg("removing folders that were left")
	}
}

// A run is one run that is under way.
type run struct {
	Runner
	d     Delegation
	by    string // the id of our process
	told  Assignment
	noted RunProgress // what SaveProgress is given, but for progress and usage
	child *child
	place *bounds.Place // of the child, nil where the system cannot bound it
	keep  bool          // its session can be opened again

	ctx    context.Context // ends when the run is to end
	cancel context.CancelFunc
	mu     sync.Mutex // guards what follows
	end    State      // what stop was given; "": the run goes on
	why    string
}

// stop ends the run. Only the first call counts.
func (r *run) stop(state State, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end == "" {
		r.end, r.why = state, why
		r.cancel()
	}
}

func (r *run) stopped() (State, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.end, r.why
}

// carryOut runs the delegation within its budget, and gives the outcome.
func (r Runner) carryOut(ctx context.Context, d Delegation, by string, told Assignment) Outcome {
	run := &run{Runner: r, d: d, by: by, told: told}
	run.child = &child{budget: d.Budget, stop: run.stop, tools: map[string]bool{}, usage: Usage{Turns: 1},
		policy: policy{mode: d.Mode, allowedKinds: r.Granted}}
	run.ctx, run.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer run.cancel()
	defer context.AfterFunc(ctx, func() { run.stop(Cancelled, "its runner was told to end") })()
	limit := time.AfterFunc(time.Duration(d.Budget.Seconds)*time.Second, func() {
		run.stop(Stopped, fmt.Sprintf("its budget of %d seconds is used up", d.Budget.Seconds))
	})
	defer limit.Stop()

	var watching guard.Group
	watched, done := context.WithCancel(run.ctx)
	watching.Go("delegation", func() { run.watch(watched) })
	o := run.work()
	done()
	watching.Wait()
	if end, why := run.stopped(); end != "" && o.State != Done {
		o.State, o.Reason = end, why
	}
	return o
}

// watch ends the run when it is to end, and saves its progress.
func (r *run) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	noted := time.Time{}
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		cancel, inside, err := r.Ledger.CheckStop(ctx, r.d)
		switch {
		case err != nil && ctx.Err() == nil:
			r.Log.Warn().Err(err).Str("delegation", r.d.ID).Msg("watching")
			continue
		case cancel != "":
			r.stop(Cancelled, cancel)
			return
		}
		r.child.addInside(inside)
		if time.Since(noted) >= noteEvery {
			noted = time.Now()
			r.note(ctx)
		}
	}
}

// note saves the run's progress.
func (r *run) note(ctx context.Context) {
	r.mu.Lock()
	s := r.noted
	r.mu.Unlock()
	s.Progress = r.child.progress()
	r.child.mu.Lock()
	s.Usage = r.child.usedLocked()
	r.child.mu.Unlock()
	if _, err := r.Ledger.SaveProgress(ctx, r.d.ID, r.by, s); err != nil && ctx.Err() == nil {
		r.Log.Warn().Err(err).Str("delegation", r.d.ID).Msg("noting progress")
	}
}

// work makes the child's folder, has the child work there, and takes back what it wrote.
func (r *run) work() Outcome {
	root := cmp.Or(r.d.Tree, filepath.Join(r.Folders, r.d.ID))
	r.mu.Lock()
	r.noted.Folder, r.noted.ACPID = root, r.d.ACPID
	r.mu.Unlock()
	r.note(r.ctx) // so that the folder is found if we are killed
	readMode := r.ReadMode(r.d.Agent)
	options := worktree.Options{Edit: r.d.Mode == Edit, Copy: r.Copy}
	if len(r.Setup) > 0 {
		options.Prepare = r.prepare
	}
	var folder *worktree.Folder
	var err error
	if r.d.Continues != "" {
		folder, err = worktree.Reopen(r.ctx, r.Folders, root)
	} else {
		folder, err = worktree.Make(r.ctx, r.d.Cwd, root, options)
	}
	cwd := r.d.Cwd
	switch {
	case err != nil && r.d.Continues != "":
		return Outcome{State: Failed, Reason: err.Error(), Folder: root} // what was handed back before is there
	case worktree.TooLarge(err) && r.d.Mode == Read && (r.Bounded || readMode != ""): // it is kept from writing
		r.child.policy.inside = func(string) bool { return false }
		if err := r.bound(root, cwd, nil); err != nil {
			return Outcome{State: Failed, Reason: err.Error()}
		}
		defer os.RemoveAll(root)
	case err != nil:
		return Outcome{State: Failed, Reason: err.Error()}
	default:
		cwd, r.child.policy.inside = folder.Cwd, folder.Inside
		if r.Made != nil {
			err = r.Made(r.d, root)
		}
		if err == nil {
			err = r.bound(root, folder.Tree(), folder.Reads)
		}
		if err != nil && r.d.Continues != "" {
			return Outcome{State: Failed, Reason: err.Error(), Folder: root}
		}
		if err != nil {
			return Outcome{State: Failed, Reason: errors.Join(err, folder.Drop(context.WithoutCancel(r.ctx))).Error()}
		}
	}
	given := worktree.Used(root)
	var measuring guard.Group
	measured, done := context.WithCancel(r.ctx)
	measuring.Go("disk of a delegation", func() { r.watchDisk(measured, root, given, diskEvery) })
	o := r.converse(cwd, readMode, folder == nil)
	done()
	measuring.Wait()
	if r.place != nil && !r.keep { // with the copy of a login, if its relay was killed
		if err := os.RemoveAll(r.place.Own); err != nil {
			r.Log.Warn().Err(err).Str("delegation", r.d.ID).Msg("removing a child's state")
		}
	}
	if folder == nil {
		return o
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), endLimit)
	defer cancel()
	folder.Keep = r.keep
	written, err := folder.Finish(ctx, "Delegated: "+clean(chars.Cut(firstLine(r.d.Task), 72)))
	if err != nil {
		o.Folder = root
		r.Log.Warn().Err(err).Str("delegation", r.d.ID).Msg("taking back a folder")
		if o.Reason == "" {
			o.Reason = err.Error()
		}
	}
	o.Paths, o.Branch, o.Refused = written.Paths, written.Branch, append(o.Refused, written.Left...)
	if o.Branch != "" {
		o.Folder = root
	}
	if r.keep && err == nil {
		o.Tree = root
	}
	return o
}

// ownName is the folder for a child's state below its root.
const ownName = "own"

// bound makes the folder for the child's state in root, and says what it may reach: in Edit it may change tree, and it
// reads others.
func (r *run) bound(root, tree string, others []string) error {
	if !r.Bounded {
		return nil
	}
	r.place = &bounds.Place{Tree: tree, Edit: r.d.Mode == Edit, Reads: others, Own: filepath.Join(root, ownName)}
	return os.MkdirAll(r.place.Own, 0o700)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// converse starts the agent behind a proxy of its own and has it do the task. inPlace says that it works in the
// caller's own folder.
func (r *run) converse(cwd, readMode string, inPlace bool) (o Outcome) {
	command := slices.Concat(r.Command, []string{"--agent", r.d.Agent})
	process, err := upstream.Start(upstream.Options{Command: command, Env: r.environment(), Stderr: io.Discard,
		Grace: leaveLimit, KillAfter: killLimit})
	if err != nil {
		return Outcome{State: Failed, Reason: err.Error()}
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
	turn, err := r.prompt(conn, cwd, readMode, inPlace)
	if end, _ := r.stopped(); end != "" && err != nil {
		process.Terminate(syscall.SIGTERM)
	} else {
		process.Hangup()
	}
	quiet()
	reading.Wait()
	r.child.asking.Wait()
	exit := process.Wait()
	conn.WaitWrites()
	if inPlace || exit.Status() != 0 { // or with the copy of a login
		r.keep = false
	}
	r.child.ended(turn)
	o.Answer, o.Usage, o.Refused = r.child.outcome()
	o.Stop = chars.Cut(string(turn.Stop), 40)
	switch {
	case err == nil && turn.Stop == acp.StopReasonCancelled:
		o.State, o.Reason = Cancelled, "the agent says that it was cancelled"
	case err == nil:
		o.State = Done
	default:
		o.State, o.Reason = Failed, r.reason(err, exit, process.LastStderr())
	}
	return o
}

// prompt opens a session, sends the task and waits for the end of the turn.
func (r *run) prompt(conn *acpclient.Conn, cwd, readMode string, inPlace bool) (t acpclient.Turn, err error) {
	opening, cancel := context.WithTimeout(r.ctx, openLimit)
	defer cancel()
	agent, err := conn.Initialize(opening, "signet-acp-proxy", r.Version)
	if err != nil {
		return t, fmt.Errorf("initialize: %w", err)
	}
	opening, cancel = context.WithTimeout(r.ctx, openLimit)
	defer cancel()
	session, err := r.open(opening, conn, agent, cwd)
	if err != nil {
		return t, err
	}
	r.keep = agent.Reopens()
	r.mu.Lock()
	r.noted.ACPID = session.ID
	r.mu.Unlock()
	r.note(r.ctx)
	set, err := r.mustSetMode(readMode, session.HasMode(readMode), inPlace)
	if err != nil {
		return t, err
	}
	if set {
		if err := conn.SetMode(opening, session.ID, readMode); err != nil {
			return t, fmt.Errorf("setting its read-only mode: %w", err)
		}
	}
	if err := r.choose(opening, conn, session, readMode); err != nil {
		return t, err
	}
	defer func() {
		r.child.mu.Lock()
		commands := slices.Clone(r.child.commands)
		r.child.mu.Unlock()
		if err := r.Ledger.NoteAgent(context.WithoutCancel(r.ctx), r.d.Agent, agent, commands); err != nil {
			r.Log.Warn().Err(err).Msg("noting what an agent says of itself")
		}
	}()
	r.child.taskSent()
	answered := make(chan error, 1)
	asking, giveUp := context.WithCancel(context.WithoutCancel(r.ctx))
	defer giveUp()
	guard.Go("delegation", func() {
		answered <- guard.Try("delegation", func() (err error) {
			t, err = conn.Prompt(asking, session.ID, prompt(r.d, r.told.Task, r.Ask))
			return err
		})
	})
	select {
	case err := <-answered:
		return t, err
	case <-r.ctx.Done():
	}
	late := time.AfterFunc(cancelLimit, giveUp)
	defer late.Stop()
	conn.Cancel(session.ID)
	err = <-answered
	if err == nil {
		err = r.ctx.Err()
	}
	return t, err
}

// open opens the child's session: a new one or, in a follow-up, the one that was.
func (r *run) open(ctx context.Context, conn *acpclient.Conn, agent acpclient.Agent, cwd string) (
	s acpclient.Session, err error) {
	switch {
	case r.d.Continues == "":
		s, err = conn.NewSession(ctx, cwd)
	case !agent.Reopens():
		return s, errors.New("it cannot load a session: ask it anew, with all that it must know")
	default:
		r.child.reopening()
		s, err = conn.Reopen(ctx, agent, r.d.ACPID, cwd)
	}
	switch {
	case err != nil:
		return s, fmt.Errorf("opening its session: %w", err)
	case s.ID == "":
		return s, errors.New("session/new: the agent's answer names no session")
	}
	return s, nil
}

// choose sets the model and the mode that were named. A mode could lift what keeps a child from writing.
func (r *run) choose(ctx context.Context, conn *acpclient.Conn, s acpclient.Session, readMode string) error {
	mode := r.told.SessionMode
	if mode != "" && mode != readMode && (r.d.Mode == Read && readMode != "" || r.place == nil && !r.Unbounded) {
		return fmt.Errorf("session mode %q could let it do more than it may here: leave it out", mode)
	}
	if mode != "" {
		if err := conn.Choose(ctx, s, acpclient.Mode, mode); err != nil {
			return err
		}
	}
	if r.told.Model != "" {
		return conn.Choose(ctx, s, acpclient.Model, r.told.Model)
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

// environment returns the caller's environment without what would keep the child from its memory; Variable marks it as
// a child.
func (r *run) environment() []string {
	env := r.Env
	if env == nil {
		env = os.Environ()
	}
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		// with CLAUDECODE, Claude Code refuses to start, as inside another one's shell
		return slices.Contains([]string{Variable, depthVariable, CallerVariable, "SIGNET_ACP_PARENT", "SIGNET_NO_HOOKS",
			"CLAUDECODE"}, name)
	})
	if r.place != nil {
		env = append(env, r.place.Environment())
	}
	return append(env, Variable+"="+r.d.ID, depthVariable+"="+strconv.Itoa(r.d.Depth), CallerVariable+"="+r.d.Key)
}
