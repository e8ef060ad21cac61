package mcpserver

import (
	"context"
	"errors"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// A lifetime is that of a server: it counts the tasks that run in it, and ends them.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu     sync.Mutex // guards closed, and tasks against an Add after the end
	closed bool
}

var errClosed = errors.New("the memory server has ended")

func newLifetime() *lifetime {
	l := &lifetime{}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// begin counts a task that the end waits for; end must follow. After close it returns false.
func (l *lifetime) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.tasks.Add(1)
	return true
}

func (l *lifetime) end() { l.tasks.Done() }

// run runs a task in a goroutine. After close it returns false and runs nothing.
func (l *lifetime) run(task func()) bool {
	if !l.begin() {
		return false
	}
	guard.Go("memory tools", func() {
		defer l.end()
		task()
	})
	return true
}

// close cancels ctx, and lets no task begin any more. It does not wait.
func (l *lifetime) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
}
