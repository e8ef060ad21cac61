//go:build unix

package delivery

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// separate has a command started in a session of its own, out of reach of terminals and process groups.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// inOwnGroup gives a command a process group, so that all that it started is killed with it.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
