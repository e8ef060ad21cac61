package cli

import (
	"fmt"
)

// Exit codes of our own; the relay's is the harness's.
const (
	Failed     = 1
	Usage      = 2
	NotStarted = 127
)

// An Exit is an error that carries the exit code to main. Without Err nothing is printed.
type Exit struct {
	Code int
	Err  error
}

func (e Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}
func (e Exit) Unwrap() error { return e.Err }
