//go:build unix

package delivery

import (
	"os/exec"
	"syscall"
)

// apart starts a command in a session of its own, out of reach of terminals and process groups.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
