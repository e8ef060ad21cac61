package upstream

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// OnTerminal runs the harness on our own terminal, as a client does for a login (ACP's terminal authentication), and
// returns when it has ended. The error is an ErrNotStarted.
func OnTerminal(o Options) (Exit, error) {
	path, err := find(o.Command)
	if err != nil {
		return Exit{}, err
	}
	interrupts := make(chan os.Signal, 1) // Ctrl-C is the harness's
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	cmd := exec.Command(path, o.Command[1:]...)
	cmd.Dir = o.Dir
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environment(o.Env), os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return Exit{Code: exit.ExitCode()}, nil
	}
	if err != nil {
		return Exit{}, notStarted(path, err)
	}
	return Exit{}, nil
}
