//go:build !unix

package embedded

import (
	"testing"
	"time"
)

var started = time.Now()

// processorTime is what has passed: what of it this process had is not known here.
func processorTime(testing.TB) time.Duration { return time.Since(started) }
