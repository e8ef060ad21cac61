// Package sandbox gives `make run` and the tests a person's machine in a folder: a HOME of its own with acpx's
// configuration, XDG and temp folders, a SIGNET_PATH, and an account of every process that runs in it, so that all of them
// can be ended by their ids and none is left behind.
package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

	agents map[string]any
}

// New makes a sandbox in a new temporary folder. Of our own environment only PATH and what finds the C library is handed on.
func New() (*Sandbox, error) {
	dir, err := os.MkdirTemp("", "signet-e2e-")
	if err != nil {
		return nil, err
	}
	s := &Sandbox{
		Dir: dir, Home: filepath.Join(dir, "home"), Signet: filepath.Join(dir, "home", ".agents"),
		Work: filepath.Join(dir, "work"), Echo: filepath.Join(dir, "echo"), agents: map[string]any{},
	}
	temp := filepath.Join(dir, "tmp")
	for _, d := range []string{s.Signet, filepath.Join(s.Home, ".acpx"), filepath.Join(s.Work, ".git"), s.Echo, temp} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	s.Env = []string{
		"HOME=" + s.Home, "USERPROFILE=" + s.Home, "SIGNET_PATH=" + s.Signet, "TMPDIR=" + temp,
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "ECHOAGENT_DIR=" + s.Echo,
	}
	for _, name := range []string{"CONFIG", "DATA", "CACHE", "STATE"} {
		s.Env = append(s.Env, "XDG_"+name+"_HOME="+filepath.Join(s.Home, "xdg", strings.ToLower(name)))
	}
	return s, nil
}

// CopyIdentity puts the identity files of a folder into $SIGNET_PATH.
func (s *Sandbox) CopyIdentity(from string) error { return os.CopyFS(s.Signet, os.DirFS(from)) }

// Register enters an agent into acpx's configuration, in the form that every version of acpx accepts: one command string.
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
	return os.WriteFile(filepath.Join(s.Home, ".acpx", "config.json"), text, 0o600)
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
// could not be run or did not end in time. More is added to the environment.
func (s *Sandbox) Run(ctx context.Context, more []string, command ...string) (Result, error) {
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

// Close ends acpx's owners, lets everything else end by itself, kills what does not, and removes the folder. What had to be
// killed is an error.
func (s *Sandbox) Close() error {
	owners, err := s.Owners()
	for _, pid := range owners {
		signal(pid, syscall.SIGTERM)
	}
	left, lerr := s.Settle(10 * time.Second)
	err = errors.Join(err, lerr)
	for _, p := range left {
		signal(p.ID, os.Kill)
		err = errors.Join(err, fmt.Errorf("still running: %s", p))
	}
	if len(left) > 0 {
		s.Settle(2 * time.Second)
	}
	return errors.Join(err, os.RemoveAll(s.Dir))
}
