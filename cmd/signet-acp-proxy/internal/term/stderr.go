package term

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

const (
	maxWaiting  = 1 << 20                // bytes that wait to be written
	finishLimit = 200 * time.Millisecond // for writing them, at the end
)

// A stderr writes in a goroutine of its own, so that a stderr that nobody reads holds nothing up. What does not fit
// into maxWaiting is dropped and counted.
type stderr struct {
	out io.Writer

	mu      sync.Mutex // guards what follows
	waiting []byte
	dropped int // bytes
	writing bool
	idle    chan struct{} // closed while nothing is being written
}

// NewStderr makes a Stderr that writes to out. Finish must follow.
func NewStderr(out io.Writer) *stderr {
	t := &stderr{out: out, idle: make(chan struct{})}
	close(t.idle)
	return t
}

// Write queues a copy of b. It never blocks and never fails.
func (t *stderr) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting)+len(b) > maxWaiting {
		t.dropped += len(b)
		return len(b), nil
	}
	t.waiting = append(t.waiting, b...)
	if !t.writing {
		t.writing = true
		t.idle = make(chan struct{})
		guard.Go("stderr", t.write)
	}
	return len(b), nil
}

// write writes until nothing waits. A write that hangs at the end is not joined: it ends with the process.
func (t *stderr) write() {
	for {
		t.mu.Lock()
		b := t.waiting
		t.waiting = nil
		if t.dropped > 0 && len(b) > 0 {
			b = fmt.Appendf(b, "%s: %d bytes dropped here, because they were not read in time\n", program, t.dropped)
			t.dropped = 0
		}
		if len(b) == 0 {
			t.writing = false
			close(t.idle)
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		_, _ = t.out.Write(b) // an error could be reported only here
	}
}

// Finish waits for what is queued, for finishLimit at most.
func (t *stderr) Finish() {
	t.mu.Lock()
	idle := t.idle
	t.mu.Unlock()
	limit := time.NewTimer(finishLimit)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	}
}
