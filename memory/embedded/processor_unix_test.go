//go:build unix

package embedded

import (
	"syscall"
	"testing"
	"time"
)

// processorTime is what this process has had of the processor.
func processorTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
