//go:build unix

package upstream

import "syscall"

// OnTerminal runs the harness on the terminal that we were started on, as a client does for a login (ACP's terminal
// authentication): no pipes, no group of its own. The harness takes our place, so where it can be started OnTerminal
// does not return, and its exit, its signals and its job control are its own. The error is an ErrNotStarted.
func OnTerminal(o Options) (Exit, error) {
	path, err := find(o.Command)
	if err != nil {
		return Exit{}, err
	}
	env := environment(o.Env)
	err = syscall.Exec(path, o.Command, env)
	if err == syscall.ENOEXEC {
		err = syscall.Exec("/bin/sh", append([]string{"sh", path}, o.Command[1:]...), env)
	}
	return Exit{}, notStarted(path, err)
}
