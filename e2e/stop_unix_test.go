//go:build unix

package e2e

import "syscall"

// What stops a process in its tracks, and lets it go on.
const (
	stopProcess = syscall.SIGSTOP
	goOn        = syscall.SIGCONT
)
