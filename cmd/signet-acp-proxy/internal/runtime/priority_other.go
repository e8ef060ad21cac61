//go:build !unix

package runtime

import "runtime"

// stepBack leaves the machine to other processes, but for one core.
func stepBack() { runtime.GOMAXPROCS(1) }
