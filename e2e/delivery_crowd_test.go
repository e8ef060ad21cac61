package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// Eight proxies write one database, sixty prompts a second: each session gets its context once, everything is stored and
// delivered, and nobody is warned of a lock: who meets another's tries again. SIGNET_TEST_CROWD sets for how many seconds.
func TestCrowd(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.set("ECHOAGENT_TERSE=1")
	d := b.withDaemon(daemontest.Older)
	b.run(proxyBin, "sessions") // makes the database
	until := time.Now().Add(time.Duration(number("SIGNET_TEST_CROWD", 2)) * time.Second)
	var (
		proxies  sync.WaitGroup
		mu       sync.Mutex
		sessions []string
		took     []time.Duration
	)
	for i := range 8 {
		proxies.Go(func() {
			for n := 0; time.Now().Before(until); n++ {
				c, err := b.dial([]string{"--log-level", "debug"}, echoBin)
				if err != nil {
					t.Error(err)
					return
				}
				for range 5 {
					session, err := c.newSession()
					if err != nil {
						t.Error(err)
						return
					}
					for turn := range 4 {
						began := time.Now()
						if err := c.prompt(session, fmt.Sprintf("turn %d.%d.%d %s", i, n, turn, words)); err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						took = append(took, time.Since(began))
						mu.Unlock()
						time.Sleep(100 * time.Millisecond) // as hurried as no person is
					}
					mu.Lock()
					sessions = append(sessions, session)
					mu.Unlock()
				}
				c.end()
			}
		})
	}
	proxies.Wait()
	if t.Failed() {
		return
	}
	b.run(proxyBin, "deliver", "--wait")
	b.queued(d, len(sessions))
	late := 0
	for _, id := range sessions {
		given := b.received(id)
		if n := given.contexts(); n != 1 {
			t.Errorf("%s had %d contexts", id, n)
		}
		if len(given.Turns[0].Blocks) != 2 {
			late++
		}
	}
	log, err := os.ReadFile(filepath.Join(b.Signet, "acp", "log", "proxy.log"))
	must(b, err)
	for line := range strings.Lines(string(log)) {
		warned := strings.Contains(line, `"level":"warn"`) && strings.Contains(line, "locked")
		if warned || strings.Contains(line, `"level":"error"`) {
			t.Errorf("%s", line)
		}
	}
	if n := b.query(`SELECT count(*) FROM turns WHERE ended > 0`)[0][0]; n != fmt.Sprint(len(took)) {
		t.Errorf("%s turns stored of %d", n, len(took))
	}
	slices.Sort(took)
	t.Logf("%d sessions, %d of them with their context at a later prompt; %d prompts, p50 %v, p99 %v, longest %v",
		len(sessions), late, len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}
