//go:build !unix

package e2e

import "syscall"

// Nothing stops a process for a while here; these tests are not run.
const (
	stopProcess = syscall.SIGKILL
	goOn        = syscall.SIGKILL
)
