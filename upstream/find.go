package upstream

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
)

// find returns the path of a command's program. The error is an ErrNotStarted that says how to get it.
func find(command []string) (string, error) {
	if len(command) == 0 || command[0] == "" {
		return "", fmt.Errorf("%w: no command: name an agent with --agent, or give its command after --", ErrNotStarted)
	}
	path, err := exec.LookPath(command[0])
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, exec.ErrDot):
		return "", fmt.Errorf("%w: %s is in the current folder, not on PATH: write ./%[2]s", ErrNotStarted, command[0])
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("%w: %s is not executable: chmod +x it", ErrNotStarted, command[0])
	}
	advice := "install it, or give the agent's command after --"
	if p, ok := ByCommand(command); ok {
		advice = p.Install
	}
	return "", fmt.Errorf("%w: %s not found: %s", ErrNotStarted, command[0], advice)
}

// CommandHere returns the command line that starts the harness on this machine: Installed if it is on PATH, else
// Command.
func (p Profile) CommandHere() []string {
	if len(p.Installed) > 0 {
		if _, err := exec.LookPath(p.Installed[0]); err == nil {
			return slices.Clone(p.Installed)
		}
	}
	return slices.Clone(p.Command)
}

// ByNpx reports whether npx fetches the harness, or what it has fetched before is started: nobody has installed it.
func (p Profile) ByNpx() bool {
	command := p.CommandHere()
	if len(command) == 0 {
		return false
	}
	_, ok := npxOf(command)
	return ok
}

// Startable returns an ErrNotStarted if what starts the harness is missing here: its program, or npx for its adapter.
func (p Profile) Startable() error {
	_, err := find(p.CommandHere())
	return err
}

// notStarted makes an ErrNotStarted of the system's error about a program that was found.
func notStarted(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s: the interpreter in its first line is missing: %w", ErrNotStarted, path, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %s: may not be executed, see its mode and its file system's: %w",
			ErrNotStarted, path, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrNotStarted, path, err)
}
