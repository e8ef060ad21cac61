package signet

import (
	"sync"
	"time"
)

const (
	breakAfter = 3
	breakFor   = 30 * time.Second
)

// A breaker keeps this process's prompts from waiting for a daemon that is too slow for them: three failures in a row
// open it for 30 s, and then one call is let through to probe.
type breaker struct {
	now func() time.Time

	mu     sync.Mutex
	failed int
	until  time.Time // open until then
	trying bool      // the one call is under way
}

// allow reports whether a call may be made. After true, exactly one of ok, fail and leave must follow.
func (b *breaker) allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed < breakAfter {
		return true
	}
	if b.trying || b.now().Before(b.until) {
		return false
	}
	b.trying = true
	return true
}

// ok ends a call that succeeded.
func (b *breaker) ok() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed, b.trying = 0, false
}

// fail ends a call that failed.
func (b *breaker) fail() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed++
	b.trying = false
	if b.failed >= breakAfter {
		b.until = b.now().Add(breakFor)
	}
}

// leave ends a call that says nothing about the daemon: the caller gave up.
func (b *breaker) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
}
