package main

import "fmt"

// Exit codes of our own; the relay's is the harness's.
const (
	exitFailed     = 1
	exitUsage      = 2
	exitNotStarted = 127
)

// An exitError carries an exit code to the one place that uses it. Without
// an error nothing is said.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}
func (e exitError) Unwrap() error { return e.err }
