package proxy

import (
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// While large prompts are held less garbage is left to stand; after the last of them as much as before.
func TestGarbageBesideLargePrompts(t *testing.T) {
	const usual = 70
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	percent := func() int {
		now := debug.SetGCPercent(usual)
		debug.SetGCPercent(now)
		return now
	}
	awaitHeld := func(want int) {
		t.Helper()
		for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			largeHeld.mu.Lock()
			n := largeHeld.n
			largeHeld.mu.Unlock()
			if n == want {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%d prompts are held, want %d", n, want)
			}
		}
	}
	c, mem := newWorld(t).holding()
	c.call(1, "session/new", cwd)
	c.call(2, "session/new", cwd)
	long := strings.Repeat("many words ", largePrompt/10)
	c.sendPrompt(3, "s1", long)
	c.sendPrompt(4, "s2", long)
	awaitHeld(2)
	if got := percent(); got != gcWhileHeld {
		t.Errorf("while they are held: %d %%", got)
	}
	close(mem.block)
	awaitHeld(0)
	if got := percent(); got != usual {
		t.Errorf("afterwards: %d %%", got)
	}
	c.until(`"id":4,`)
}

// holding opens a connection whose prompts are held until the source's block is closed.
func (w *world) holding() (*connection, *source) {
	w.t.Helper()
	mem := newSource()
	mem.block = make(chan struct{})
	c := w.start(mem, echo(), func(o *Options) { o.HoldLimit = time.Hour })
	c.open()
	return c, mem
}
