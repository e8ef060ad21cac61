package worktree

import "syscall"

// endsWithUs has the kernel end git if we are killed, so that it does not go on in a folder that is being removed. Of
// this signal git removes its lock files.
var endsWithUs = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
