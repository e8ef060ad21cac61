//go:build unix

package delivery

import (
	"os/exec"
	"syscall"
)

// separate has a command started in a session of its own, out of reach of terminals and process groups.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
