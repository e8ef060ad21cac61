package proxy

import (
	"sync"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/proxy/session"
)

const (
	// how often text is recorded while an answer streams: kill -9 costs no more of it
	recordEvery = 250 * time.Millisecond
	minRest     = 20 * time.Millisecond // pause after recording, so that what comes meanwhile is recorded together
)

// An alarm says when to record next.
type alarm struct {
	changed chan struct{} // that is sooner than it was

	mu     sync.Mutex
	at     time.Time // zero: nothing is due
	rested time.Time // what is due soon waits for this
}

func newAlarm() *alarm { return &alarm{changed: make(chan struct{}, 1)} }

// set has something recorded: at once, after the pause, or within recordEvery. It never blocks.
func (a *alarm) set(when session.Urgency) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := time.Now()
	switch when {
	case session.Soon:
		if at.Before(a.rested) {
			at = a.rested
		}
	case session.Later:
		at = at.Add(recordEvery)
	}
	if !a.at.IsZero() && !at.Before(a.at) {
		return
	}
	a.at = at
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// in is how long it is until something is due.
func (a *alarm) in() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Until(a.at)
}

// clear says that what was due is about to be recorded. What comes meanwhile is recorded together.
func (a *alarm) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at, a.rested = time.Time{}, time.Now().Add(minRest)
}

// rest has what is due soon wait for a pause.
func (a *alarm) rest(pause time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rested = time.Now().Add(pause)
}
