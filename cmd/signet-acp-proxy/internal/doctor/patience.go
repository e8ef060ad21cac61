package doctor

import (
	"context"
	"errors"
	"time"
)

// Patience is how long a harness may take to answer. One that does nothing meanwhile hangs; one that is at work is
// slow, as all are on a busy machine, and gets longer.
type patience struct {
	silent  time.Duration // for one that does nothing
	working time.Duration // for one that is still at work
	quiet   time.Duration // how long one does nothing before it is taken to hang
	look    time.Duration // how often it is looked what it does
	slow    time.Duration // how long an answer takes that is worth a word
}

var ordinary = patience{silent: 30 * time.Second, working: 3 * time.Minute, quiet: 5 * time.Second, look: time.Second,
	slow: 5 * time.Second}

// cachedTime is silent's for npx and uvx, which look through what they have fetched before they start it.
const cachedTime = time.Minute

var (
	errHangs  = errors.New("it does not speak ACP, or hangs")
	errAtWork = errors.New("it is still at work")
)

// wait calls giveUp when the harness that leads a process group has had its time. It ends with ctx.
func (p patience) wait(ctx context.Context, group int, giveUp func(error)) {
	tick := time.NewTicker(p.look)
	defer tick.Stop()
	begun := time.Now()
	worked, used := begun, time.Duration(0)
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now, running := workOf(group)
		// who waits for something may look for it now and then
		if running || now-used > p.look/20 {
			worked = time.Now()
		}
		used = now
		switch {
		case time.Since(begun) > p.working:
			giveUp(errAtWork)
			return
		case time.Since(begun) > p.silent && time.Since(worked) > p.quiet:
			giveUp(errHangs)
			return
		}
	}
}
