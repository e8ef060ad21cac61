package delivery

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart starts a command without our console.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
		HideWindow: true}
}
