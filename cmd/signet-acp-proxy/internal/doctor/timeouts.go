package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/lineage"
)

// timeouts say how long a harness may take to answer initialize. One that uses no CPU meanwhile hangs; one that is
// working, as all are on a busy machine, gets longer.
type timeouts struct {
	silent  time.Duration // for a harness that uses no CPU
	working time.Duration // for a harness that is still working
	quiet   time.Duration // how long without CPU use it takes to count as hanging
	look    time.Duration // how often its CPU use is checked
	slow    time.Duration // how long an answer takes that is reported as slow
}

var defaultTimeouts = timeouts{
	silent: 30 * time.Second, working: 3 * time.Minute, quiet: 5 * time.Second, look: time.Second,
	slow: 5 * time.Second,
}

// cachedTime is silent for npx and uvx, which search what they have downloaded before they start it.
const cachedTime = time.Minute

var (
	errHangs  = errors.New("it does not speak ACP, or hangs")
	errAtWork = errors.New("it is still at work")
)

// wait calls giveUp when the harness, by its process group, has used up its time. It ends with ctx.
func (p timeouts) wait(ctx context.Context, group int, giveUp func(error)) {
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
		now, running := lineage.CPU(group)
		// a waiting program may wake up now and then
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
