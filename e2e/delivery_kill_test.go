package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/memory/signet/daemontest"
)

// number is a setting of this test run.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// A killing is a box whose processes are killed at random moments.
type killing struct {
	*box
	d *daemontest.Daemon

	mu       sync.Mutex
	answered []string // what was said in turns whose response reached the client
	kills    map[string]int
}

// Whatever is killed with kill -9 at whatever moment, what was said is there and is delivered, and nothing that was
// answered is delivered again. SIGNET_TEST_KILLS sets how often.
func TestKilled(t *testing.T) {
	t.Parallel()
	runs := number("SIGNET_TEST_KILLS", 24)
	m := &killing{box: newBox(t), kills: map[string]int{}}
	m.set("ECHOAGENT_TERSE=1", "SIGNET_ACP_MEMORY=daemon", "SIGNET_SESSION_START_TIMEOUT=1000")
	m.d = m.withDaemon(daemontest.Older)
	for i := range runs {
		m.run(i)
		if t.Failed() {
			return
		}
	}
	m.d.Heal()
	m.Settle(40 * time.Second) // the workers that are left
	m.deliverAll()
	m.ageByADay() // what a long session said after its last hand-over was no job worth before
	m.deliverAll()
	m.check(runs)
}

func (m *killing) run(i int) {
	m.t.Helper()
	heal := m.trouble(i)
	victim := []string{"proxy", "client", "harness", "worker"}[rand.IntN(4)]
	life := time.Duration(rand.IntN(500)) * time.Millisecond
	if rand.IntN(5) == 0 {
		life += time.Second
	}
	began := time.Now()
	ended := make(chan struct{})
	calls := make(chan *client, 1)
	go func() {
		defer close(ended)
		c, err := m.dial(nil, echoBin)
		calls <- c
		if err == nil {
			m.converse(c, i, began.Add(life))
		}
		if victim == "client" {
			c.vanish()
		} else {
			c.end()
		}
	}()
	c := <-calls
	if victim != "worker" && victim != "client" {
		time.Sleep(time.Until(began.Add(life)))
		m.kill(victim, c)
	}
	<-ended
	m.kills[victim]++
	if victim == "worker" {
		time.Sleep(time.Duration(rand.IntN(120)) * time.Millisecond)
		m.kill(victim, c)
	}
	heal()
}

// turnOf is the prompt that begins so.
func turnOf(said string) string { return said + " " + strings.TrimSpace(words) }

// trouble makes the daemon fail in every sixth run, in one way or another.
func (m *killing) trouble(i int) (heal func()) {
	if i%6 != 5 {
		return func() {}
	}
	const path = "/api/hooks/session-end"
	switch i / 6 % 4 {
	case 0:
		m.d.Stop()
	case 1:
		m.d.Fail(daemontest.Fault{Path: path, Kind: daemontest.BlackHole})
	case 2:
		m.d.Fail(daemontest.Fault{Path: path, Kind: daemontest.Status})
	case 3:
		m.d.Fail(daemontest.Fault{Kind: daemontest.BlackHole})
	}
	return func() {
		time.Sleep(300 * time.Millisecond) // for a worker to meet with it
		m.d.Heal()
		m.d.Stop() // ends what hangs
		must(m.box, m.d.Resume())
	}
}

// converse prompts until the time is over; every fifth connection opens a session and says nothing.
func (m *killing) converse(c *client, i int, until time.Time) {
	session, err := c.newSession()
	for n := 0; err == nil && i%5 != 4 && time.Now().Before(until); n++ {
		said := fmt.Sprintf("turn %d.%d.", i, n)
		if err = c.prompt(session, turnOf(said)); err == nil {
			m.mu.Lock()
			m.answered = append(m.answered, said)
			m.mu.Unlock()
		}
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
	}
}

// kill kills one kind of process.
func (m *killing) kill(victim string, c *client) {
	if victim == "proxy" {
		_ = c.cmd.Process.Kill()
		return
	}
	found, err := m.Processes()
	must(m.box, err)
	for _, p := range found {
		if victim == "harness" && strings.HasPrefix(p.Command, echoBin) ||
			victim == "worker" && strings.Contains(p.Command, " deliver ") {
			_ = kill(p.ID)
		}
	}
}

// deliverAll sweeps, and delivers what is due.
func (m *killing) deliverAll() {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	r, err := m.Run(ctx, nil, proxyBin, "deliver", "--wait")
	if err != nil || r.Code != 0 {
		m.t.Fatalf("%v %+v", err, r)
	}
}

// ageByADay makes all that was said a day older than it is.
func (m *killing) ageByADay() {
	m.t.Helper()
	const day = int64(24 * time.Hour / time.Millisecond)
	db, err := sql.Open("sqlite3", m.database())
	must(m.box, err)
	defer db.Close()
	for _, statement := range []string{
		`UPDATE turns SET started = started - ?`, `UPDATE debts SET due = due - ? WHERE done = 0`,
	} {
		_, err := db.Exec(statement, day)
		must(m.box, err)
	}
}

func (m *killing) check(runs int) {
	m.t.Helper()
	if got := m.query(`PRAGMA integrity_check`); len(got) != 1 || got[0][0] != "ok" {
		m.t.Errorf("integrity: %q", got)
	}
	stored := map[string]bool{}
	for _, row := range m.query(`SELECT user FROM turns`) {
		// else the proxy was killed in the turn
		if said := strings.SplitN(row[0], " ", 3); len(said) > 1 {
			stored[said[0]+" "+said[1]] = true
		}
	}
	for _, said := range m.answered {
		if !stored[said] {
			m.t.Errorf("%s was answered, and is not there", said)
		}
	}
	if open := m.query(`SELECT id, kind, state, error FROM debts WHERE state NOT IN ('delivered', 'dropped')
		AND NOT (state = 'unknown' AND done > 0)`); len(open) > 0 {
		m.t.Errorf("still owed: %q", open)
	}
	if left := m.query(`SELECT t.id FROM turns t WHERE t.daemon_delivery = 0 AND (t.user <> ''
		OR t.assistant <> '')`); len(left) > 0 {
		m.t.Errorf("%d turns were never delivered", len(left))
	}
	if left, _ := os.ReadDir(m.Signet + "/acp/transcripts"); len(left) > 0 {
		m.t.Errorf("transcripts are left: %v", left)
	}
	// A post is repeated only where no answer was noted, and once at that; once more where a worker had died before.
	posts := map[string]int{}
	for _, e := range m.d.Ends() {
		if key, _, _ := strings.Cut(e.Key, "."); e.Outcome != daemontest.Bare && e.Outcome != daemontest.Discarded {
			posts[key]++
		}
	}
	unanswered := 0
	for _, row := range m.query(`SELECT key, count(*), sum((unanswered <> 0) + (unanswered = 1 AND attempts > 2)),
		sum(abs(unanswered)), EXISTS (SELECT 1
		FROM turns t WHERE t.key = d.key AND (t.user <> '' OR t.assistant <> '')) FROM debts d GROUP BY key`) {
		rows, _ := strconv.Atoi(row[1])
		doubts, _ := strconv.Atoi(row[2])
		n, _ := strconv.Atoi(row[3])
		unanswered += n
		said := row[4] == "1" // else there is nothing to post
		if got := posts[row[0]]; got > rows+doubts || got == 0 && n == 0 && said {
			m.t.Errorf("%s: %d posts for %d rows, %d of them in doubt", row[0], got, rows, doubts)
		}
		delete(posts, row[0])
	}
	if len(posts) > 0 {
		m.t.Errorf("delivered without a row: %v", posts)
	}
	// What a session says goes as a whole, but for a long one's.
	if torn := m.query(`SELECT key, group_concat(reason) FROM debts d GROUP BY key HAVING count(*) > 1
		AND (SELECT count(*) FROM turns t WHERE t.key = d.key) < 20`); len(torn) > 0 {
		m.t.Errorf("handed over in part before their end was known: %q", torn)
	}
	if bare := m.query(`SELECT d.id FROM debts d WHERE NOT EXISTS (SELECT 1 FROM turns t
		WHERE t.key = d.key)`); len(bare) > 0 {
		m.t.Errorf("promptless sessions owe something: %q", bare)
	}
	m.t.Logf("%d runs, killed: %v; %d turns answered; %d session-ends, %d posts without an answer", runs, m.kills,
		len(m.answered), len(m.d.Ends()), unanswered)
}

// kill ends a process at once, by its id.
func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}
