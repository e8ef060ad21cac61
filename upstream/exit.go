package upstream

import (
	"fmt"
	"syscall"
)

// An Exit is how a harness ended.
type Exit struct {
	Code   int
	Signal syscall.Signal // that ended it; zero: none, and Code counts
}

// Status returns the exit code as shells have it: Code, or 128 + the signal's number.
func (e Exit) Status() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("signal %d (%s)", int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
