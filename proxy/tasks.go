package proxy

import (
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/guard"
)

// tasks are the goroutines that work beside the conversation. They have to end soon after the relay's context does.
type tasks struct {
	running guard.Group

	mu    sync.Mutex // guards what follows
	ended bool
}

// run runs f, which is called work, in a goroutine that end joins, and reports whether it did. After end it does not:
// the goroutine that reads from the client may outlive the relay.
func (t *tasks) run(work string, f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.running.Go(work, f)
	return true
}

// end joins the goroutines. No other is started.
func (t *tasks) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.running.Wait()
}
