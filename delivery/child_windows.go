package delivery

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// separate has a command started without our console.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
		HideWindow: true}
}

// inOwnGroup does nothing here: only the command itself is killed.
func inOwnGroup(*exec.Cmd) {}
