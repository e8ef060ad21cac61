package e2e

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// However many sessions end while the daemon refuses or hangs, there is one worker for them, and in the end the daemon
// has each of them once. SIGNET_TEST_WORKERS sets how many there are.
func TestOneWorker(t *testing.T) {
	t.Parallel()
	sessions := number("SIGNET_TEST_WORKERS", 2)
	for _, tt := range []struct {
		name  string
		fall  func(*daemontest.Daemon)
		stand func(*daemontest.Daemon) error
	}{
		{"refuses", (*daemontest.Daemon).Stop, (*daemontest.Daemon).Resume},
		{"hangs", func(d *daemontest.Daemon) { d.Fail(daemontest.Fault{Kind: daemontest.BlackHole}) },
			func(d *daemontest.Daemon) error { d.Heal(); return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("ECHOAGENT_TERSE=1", "SIGNET_ACP_MEMORY=daemon", "SIGNET_SESSION_START_TIMEOUT=1000")
			d := b.withDaemon(daemontest.Older)
			b.talk(words) // the daemon is known
			b.queued(d, 1)
			tt.fall(d)
			for i := range sessions {
				b.talk(fmt.Sprint("session ", i, " ", words))
				// who finds that there is one ends
				b.wait("one worker alone", func() bool { return len(b.workers()) == 1 })
			}
			must(b, tt.stand(d))
			b.queued(d, 1+sessions)
		})
	}
}

// A daemon that a person named is owed from the first turn, also where it has never answered: once it is there, all
// that was said arrives, and no session of ours is left there.
func TestNamedDaemonComesLate(t *testing.T) {
	t.Parallel()
	for _, named := range []string{"SIGNET_DAEMON_URL=http://127.0.0.1:%s", "SIGNET_PORT=%s"} {
		t.Run(named, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			d := daemontest.Start(t, daemontest.Options{AgentsDir: b.Signet})
			d.Stop()
			_, port, _ := strings.Cut(strings.TrimPrefix(d.URL(), "http://"), ":")
			b.set("ECHOAGENT_TERSE=1", "SIGNET_DAEMON_URL=", fmt.Sprintf(named, port))
			const before = 3
			for i := range before {
				b.talk(fmt.Sprint("before ", i, " ", words))
			}
			must(b, d.Resume())
			b.talk("after " + words)
			b.queued(d, before+1)
			b.wait("no session to be live", func() bool { return len(d.Sessions()) == 0 })
		})
	}
}

// A database that somebody holds around the end is not waited for, however many sessions there are, and nothing that
// was said is lost: a worker takes it in once that is possible, and hands it over. How long an end may take is
// TestLockedAtTheEnd's in package proxy, whose clock does not know how busy the machine is.
// SIGNET_TEST_LOCK_SECONDS keeps it locked for longer.
func TestLockedAroundTheEnd(t *testing.T) {
	t.Parallel()
	longer := time.Duration(number("SIGNET_TEST_LOCK_SECONDS", 0)) * time.Second
	for _, sessions := range []int{1, 5} {
		t.Run(fmt.Sprint(sessions), func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("ECHOAGENT_TERSE=1", "SIGNET_ACP_MEMORY=daemon", "SIGNET_SESSION_START_TIMEOUT=1000")
			d := b.withDaemon(daemontest.Older)
			unlocked := b.connect(nil, echoBin)
			unlocked.open()
			floor := unlocked.timedEnd()
			c := b.connect(nil, echoBin)
			var ids []string
			for range sessions {
				ids = append(ids, c.talk("before "+words))
			}
			b.wait("the turns", func() bool { return len(b.query(`SELECT 1 FROM turns WHERE ended > 0`)) == sessions })
			db, err := sql.Open("sqlite3", "file:"+b.database()+"?_txlock=immediate&_busy_timeout=5000")
			must(b, err)
			defer db.Close()
			tx, err := db.Begin()
			must(b, err)
			for _, id := range ids {
				c.say(id, "while it was locked "+words)
			}
			took := c.timedEnd()
			t.Logf("%d sessions: the end took %v, with nothing locked %v", sessions, took, floor)
			if took > 2*time.Second+10*floor { // 0.2 s where nothing else works
				t.Errorf("the end took %v, with nothing locked %v", took, floor)
			}
			if code := c.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("while it was locked the proxy ended with %d", code)
			}
			time.Sleep(longer)
			must(b, tx.Rollback())
			if longer > 0 { // no worker waits that long: the next start takes it in
				b.talk("after it was locked " + words)
				b.queued(d, sessions+1)
			} else {
				b.queued(d, sessions)
			}
			found := len(b.query(`SELECT 1 FROM turns WHERE ended > 0 AND stop = 'end_turn' AND user NOT LIKE 'after%'`))
			if found != 2*sessions {
				t.Errorf("%d turns are there, of %d", found, 2*sessions)
			}
		})
	}
}

// timedEnd hangs up, and returns how long the proxy took to end.
func (c *client) timedEnd() time.Duration {
	began := time.Now()
	c.end()
	return time.Since(began)
}
