package e2e

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// A proxy that is killed with kill -9 at any moment after its client has read a response has lost no turn, no prompt and
// no answer, and whoever comes next takes in none twice; also while somebody else holds the database.
// SIGNET_TEST_RESPONSE_KILLS sets how often.
func TestKilledAfterAResponse(t *testing.T) {
	t.Parallel()
	runs := number("SIGNET_TEST_RESPONSE_KILLS", 4)
	for _, locked := range []bool{false, true} {
		t.Run(fmt.Sprintf("locked %t", locked), func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.set("ECHOAGENT_TERSE=1", "SIGNET_PORT=1", "SIGNET_ACP_MEMORY=embedded")
			b.run(proxyBin, "sessions") // makes the database
			var all []*cutOff
			for i := range runs {
				all = append(all, b.cutOff(i, locked))
			}
			b.takeIn()
			turns := 0
			for _, one := range all {
				turns += len(one.said)
				one.check(b)
			}
			t.Logf("%d kills, %d turns", runs, turns)
			if rows := b.query(`SELECT kind, state FROM debts`); len(rows) > 0 {
				t.Errorf("without a daemon something is owed: %q", rows)
			}
		})
	}
}

// A cutOff is a conversation whose proxy was killed.
type cutOff struct {
	session string
	said    []string
}

// cutOff prompts a few times and kills the proxy, 0 to 30 ms after the last response.
func (b *box) cutOff(run int, locked bool) *cutOff {
	b.t.Helper()
	c := b.connect(nil, echoBin)
	one := &cutOff{session: c.open()}
	prompt := func(n int) {
		said := fmt.Sprintf("turn %d.%d %s", run, n, strings.TrimSpace(words))
		c.say(one.session, said)
		one.said = append(one.said, said)
	}
	prompt(0)
	if locked {
		db, err := sql.Open("sqlite3", "file:"+b.database()+"?_txlock=immediate&_busy_timeout=5000")
		must(b, err)
		defer db.Close()
		tx, err := db.Begin()
		must(b, err)
		defer tx.Rollback()
	}
	for n := range 1 + rand.IntN(3) {
		prompt(1 + n)
	}
	time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
	must(b, c.cmd.Process.Kill())
	c.vanish()
	return one
}

// check looks for the turns.
func (one *cutOff) check(b *box) {
	b.t.Helper()
	rows := b.query(`SELECT t.user, t.assistant, t.stop FROM turns t JOIN sessions s ON s.id = t.session
		WHERE s.acp_id = ? ORDER BY t.id`, one.session)
	if len(rows) != len(one.said) {
		b.t.Errorf("%s: %d turns are there, %d were answered", one.session, len(rows), len(one.said))
		return
	}
	for i, row := range rows {
		if row[0] != one.said[i] || row[1] == "" || row[2] != "end_turn" {
			b.t.Errorf("%s: turn %d ended with %q and says %q and %q", one.session, i, row[2], row[0], row[1])
		}
	}
}
