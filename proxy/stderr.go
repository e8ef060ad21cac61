package proxy

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	maxForPeople = 1 << 20                // bytes that wait for somebody who reads
	peopleLimit  = 200 * time.Millisecond // for them, at the end
)

// A peopleWriter writes what people are to read, in a goroutine of its own: a stderr that nobody reads holds nothing
// up. What finds no room is dropped and counted.
type peopleWriter struct {
	out io.Writer

	mu      sync.Mutex // guards what follows
	waiting []byte
	dropped int // bytes
	writing bool
	idle    chan struct{} // closed while nothing is being written
}

func newPeopleWriter(out io.Writer) *peopleWriter {
	t := &peopleWriter{out: out, idle: make(chan struct{})}
	close(t.idle)
	return t
}

// Write takes what is to be written. It never blocks and never fails.
func (t *peopleWriter) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting)+len(b) > maxForPeople {
		t.dropped += len(b)
		return len(b), nil
	}
	t.waiting = append(t.waiting, b...)
	if !t.writing {
		t.writing = true
		t.idle = make(chan struct{})
		go t.write()
	}
	return len(b), nil
}

// write writes until nothing waits. A write that hangs is left to itself at the end: it goes with the process.
func (t *peopleWriter) write() {
	for {
		t.mu.Lock()
		b := t.waiting
		t.waiting = nil
		if t.dropped > 0 && len(b) > 0 {
			b = fmt.Appendf(b, "signet-acp-proxy: %d bytes were left out here, for nobody read them\n", t.dropped)
			t.dropped = 0
		}
		if len(b) == 0 {
			t.writing = false
			close(t.idle)
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		_, _ = t.out.Write(b) // there is nobody to tell
	}
}

// finish waits a moment for what is still to be read.
func (t *peopleWriter) finish() {
	t.mu.Lock()
	idle := t.idle
	t.mu.Unlock()
	limit := time.NewTimer(peopleLimit)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	}
}
