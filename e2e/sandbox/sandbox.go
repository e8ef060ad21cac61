// Package sandbox gives `make run` and the tests a person's machine in a folder: a HOME of its own with acpx's
// configuration, XDG and temp folders, a SIGNET_PATH, and an account of every process that runs in it, so that all of
// them can be ended by their ids and none is left behind.
package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Sandbox is one such folder. Close ends what still runs in it and removes it.
type Sandbox struct {
	Dir    string // the whole
	Home   string
	Signet string // $SIGNET_PATH
	Work   string // a project: an empty folder with a .git, in which commands run
	Echo   string // $ECHOAGENT_DIR
	Env    []string

	config string // acpx's configuration, which Register writes
	agents map[string]any
	mine   bool // HOME is ours too
}

// mark is the variable by which everything that runs in a sandbox is known: its value is the sandbox's folder.
const mark = "SIGNET_E2E"

// New makes a sandbox in a new temporary folder. Of our own environment only PATH is handed on.
func New() (*Sandbox, error) {
	dir, err := os.MkdirTemp("", "signet-e2e-")
	if err != nil {
		return nil, err
	}
	home := filepath.Join(dir, "home")
	temp := filepath.Join(dir, "tmp")
	s := &Sandbox{
		Dir: dir, Home: home, Signet: filepath.Join(home, ".agents"),
		Work: filepath.Join(dir, "work"), Echo: filepath.Join(dir, "echo"),
		config: filepath.Join(home, ".acpx", "config.json"), mine: true,
	}
	if err := s.folders(s.Signet, filepath.Dir(s.config), filepath.Join(s.Work, ".git"), s.Echo, temp); err != nil {
		return nil, err
	}
	s.Env = []string{
		mark + "=" + dir, "HOME=" + s.Home, "USERPROFILE=" + s.Home, "SIGNET_PATH=" + s.Signet, "TMPDIR=" + temp,
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "ECHOAGENT_DIR=" + s.Echo,
		// a test binary plays some harnesses: built with the race detector it would end a second late
		"GORACE=atexit_sleep_ms=0",
		// a crowded machine can keep a process waiting for longer than a person's does
		"SIGNET_ACP_HOLD=5m", // and of that 20 s for the database
	}
	for _, name := range []string{"CONFIG", "DATA", "CACHE", "STATE"} {
		s.Env = append(s.Env, "XDG_"+name+"_HOME="+filepath.Join(s.Home, "xdg", strings.ToLower(name)))
	}
	return s, nil
}

// Borrow makes a sandbox that uses the person's own HOME, environment and $SIGNET_PATH, for harnesses that are logged
// in there. Only the project and its acpx configuration are ours; sessions must be closed by who opened them.
func Borrow() (*Sandbox, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "signet-e2e-")
	if err != nil {
		return nil, err
	}
	s := &Sandbox{Dir: dir, Home: home, Signet: os.Getenv("SIGNET_PATH"), Work: filepath.Join(dir, "work"),
		Env: append(os.Environ(), mark+"="+dir)}
	if s.Signet == "" {
		s.Signet = filepath.Join(home, ".agents")
	}
	s.config = filepath.Join(s.Work, ".acpxrc.json")
	return s, s.folders(filepath.Join(s.Work, ".git"))
}

func (s *Sandbox) folders(names ...string) error {
	s.agents = map[string]any{}
	for _, name := range names {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return errors.Join(err, os.RemoveAll(s.Dir))
		}
	}
	return nil
}

// CopyIdentity puts the identity files of a folder into $SIGNET_PATH.
func (s *Sandbox) CopyIdentity(from string) error { return os.CopyFS(s.Signet, os.DirFS(from)) }

// Register enters an agent into acpx's configuration, in the form that every version of acpx accepts: one command
// string.
func (s *Sandbox) Register(name string, command ...string) error {
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = quote(word)
	}
	s.agents[name] = map[string]string{"command": strings.Join(quoted, " ")}
	text, err := json.MarshalIndent(map[string]any{"agents": s.agents}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(s.config, text, 0o600)
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quote is for acpx's small lexer of command strings, which knows quotes and backslashes.
func quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// A Result is a command that has ended. Code is -1 where a signal ended it.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Run runs a command in the sandbox's project and waits for it. Its exit code is in the result; an error means that it
// could not be run or did not end in time. More is added to the environment. Where acpx did not reach its queue owner,
// nothing was said, and the command runs again.
func (s *Sandbox) Run(ctx context.Context, more []string, command ...string) (r Result, err error) {
	for range tries {
		r, err = s.run(ctx, more, command)
		if err != nil || r.Code == 0 || !unheard.MatchString(r.Stderr) {
			break
		}
		if err := s.started(ctx); err != nil {
			return r, err
		}
	}
	return r, err
}

// tries is how often acpx is asked for one thing. It looks 120 times itself whether its owner is there
// (QUEUE_OWNER_STARTUP_MAX_ATTEMPTS in 0.7.0 and 0.19.1), which a crowded machine can be too slow for.
const tries = 6

// What acpx says where a prompt has not reached its owner.
var unheard = regexp.MustCompile(`queue owner (failed to start|is running but not accepting)|Cannot safely retire queue owner`)

// started waits until each queue owner has its lock or has ended: asked earlier, acpx starts one more, which takes the
// lock as soon as it can.
func (s *Sandbox) started(ctx context.Context) error {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		locked, err := s.Owners()
		if err != nil {
			return err
		}
		running, err := s.Processes()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(running, func(p Process) bool {
			return strings.Contains(p.Command, "__queue-owner") && !slices.Contains(locked, p.ID)
		}) {
			return nil
		}
	}
	return fmt.Errorf("waiting for acpx's queue owner: %w", ctx.Err())
}

func (s *Sandbox) run(ctx context.Context, more, command []string) (Result, error) {
	var stdout, stderr bytes.Buffer
	cmd := s.Command(ctx, more, command...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, fmt.Errorf("%s: %w\n%s%s", strings.Join(command, " "), ctx.Err(), r.Stdout, r.Stderr)
	case err != nil && !errors.As(err, &exit):
		return r, fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return r, nil
}

// Command is a command in the sandbox, not started yet.
func (s *Sandbox) Command(ctx context.Context, more []string, command ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = s.Work
	cmd.Env = append(append([]string{}, s.Env...), more...)
	cmd.WaitDelay = 5 * time.Second // something that outlives the command may hold its pipes
	return cmd
}

// Owners are the ids of acpx's queue owners: the detached processes that keep an agent between two prompts.
func (s *Sandbox) Owners() ([]int, error) {
	locks, err := filepath.Glob(filepath.Join(s.Home, ".acpx", "queues", "*.lock"))
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range locks {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // gone meanwhile
		}
		var lock struct{ Pid int }
		if json.Unmarshal(text, &lock) == nil && lock.Pid > 0 {
			pids = append(pids, lock.Pid)
		}
	}
	return pids, nil
}

// Settle waits until nothing runs in the sandbox any more, at most for d, and returns what still does.
func (s *Sandbox) Settle(d time.Duration) ([]Process, error) {
	for deadline := time.Now().Add(d); ; time.Sleep(20 * time.Millisecond) {
		left, err := s.Processes()
		if err != nil || len(left) == 0 || time.Now().After(deadline) {
			return left, err
		}
	}
}

func signal(pid int, sig os.Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Signal(sig) // it may be gone, which is what we want
	}
}

// Close ends acpx's owners, lets everything else end by itself, kills what does not, and removes the folder. What had
// to be killed is an error.
func (s *Sandbox) Close() error {
	if s.mine {
		owners, err := s.Owners()
		if err != nil {
			return err
		}
		for _, pid := range owners {
			signal(pid, syscall.SIGTERM)
		}
	}
	// a worker waits half a minute for what comes due, a busy machine makes everything later
	left, err := s.Settle(10 * time.Minute)
	for _, p := range left {
		signal(p.ID, os.Kill)
		err = errors.Join(err, fmt.Errorf("still running: %s", p))
	}
	if len(left) > 0 {
		s.Settle(2 * time.Second)
	}
	if s.mine {
		err = errors.Join(err, os.RemoveAll(s.sockets()))
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}

// sockets is the folder that acpx makes for the sockets of a HOME, and leaves (queueSocketBaseDir in acpx 0.19.1).
func (s *Sandbox) sockets() string {
	return fmt.Sprintf("/tmp/acpx-%.5x", sha256.Sum256([]byte(s.Home)))
}

// Processes lists what runs in the sandbox: every process that has its mark in the environment, whoever started it and
// however detached it is.
func (s *Sandbox) Processes() ([]Process, error) { return withVariable(mark + "=" + s.Dir) }
