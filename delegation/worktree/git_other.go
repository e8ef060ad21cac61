//go:build !linux

package worktree

import "syscall"

// endsWithUs is nothing here: git goes on for a moment if we are killed, and what it leaves is removed by the next try.
var endsWithUs *syscall.SysProcAttr
