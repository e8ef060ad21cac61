package mcpserver

import (
	"context"
	"errors"
	"sync"
)

// A life is that of a server: what runs in it, until it ends.
type life struct {
	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu     sync.Mutex // guards closed, and tasks against a beginning after the end
	closed bool
}

var errClosed = errors.New("the memory server has ended")

func newLife() *life {
	l := &life{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// begin counts a task that the end waits for, unless it is too late for one; end follows.
func (l *life) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.tasks.Add(1)
	return true
}

func (l *life) end() { l.tasks.Done() }

// run runs a task in a goroutine, unless it is too late for one.
func (l *life) run(task func()) bool {
	if !l.begin() {
		return false
	}
	go func() {
		defer l.end()
		task()
	}()
	return true
}

// close ends what runs.
func (l *life) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
}
