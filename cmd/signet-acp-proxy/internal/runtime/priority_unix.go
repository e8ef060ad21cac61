//go:build unix

package runtime

import (
	"runtime"
	"syscall"
)

// stepBack lets all other processes go first.
func stepBack() {
	runtime.GOMAXPROCS(1)
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 19) // it is paced anyway
}
