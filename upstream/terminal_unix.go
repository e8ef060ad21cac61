//go:build unix

package upstream

import (
	"os"
	"syscall"
)

// OnTerminal runs the harness on our own terminal, as a client does for a login (ACP's terminal authentication),
// without pipes and without a process group of its own. It replaces our process by the harness, so it returns only if
// that cannot be started. The error is an ErrNotStarted.
func OnTerminal(o Options) (Exit, error) {
	path, err := find(o.Command)
	if err != nil {
		return Exit{}, err
	}
	if o.Dir != "" {
		if err := os.Chdir(o.Dir); err != nil {
			return Exit{}, notStarted(path, err)
		}
	}
	env := environment(o.Env)
	err = syscall.Exec(path, o.Command, env)
	if err == syscall.ENOEXEC {
		err = syscall.Exec("/bin/sh", append([]string{"sh", path}, o.Command[1:]...), env)
	}
	return Exit{}, notStarted(path, err)
}
