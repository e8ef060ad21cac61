//go:build !unix

package runtime

import "runtime"

// StepBack leaves the machine to other processes, but for one core.
func StepBack() { runtime.GOMAXPROCS(1) }
