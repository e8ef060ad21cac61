package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A proxy that is killed with kill -9 at any moment after its client has read a response has lost no turn, and whoever
// comes next takes in none twice; also while somebody else holds the database. Only words of the last moment may be
// missing (250 ms on a machine that has nothing else to do). SIGNET_TEST_RESPONSE_KILLS sets how often.
func TestKilledAfterAResponse(t *testing.T) {
	t.Parallel()
	runs := number("SIGNET_TEST_RESPONSE_KILLS", 6)
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
			b.wait("everything to be taken in", func() bool {
				b.run(proxyBin, "sessions")
				files, err := filepath.Glob(filepath.Join(b.Signet, "acp", "live", "*.events"))
				must(b, err)
				return len(files) == 0
			})
			turns := 0
			var young []time.Duration
			for _, one := range all {
				turns += len(one.said)
				young = append(young, one.check(b)...)
			}
			slices.Sort(young)
			t.Logf("%d kills, %d turns; those whose words are not whole were answered so long before: %v", runs, turns,
				young)
		})
	}
}

// A cutOff is a conversation whose proxy was killed.
type cutOff struct {
	session string
	said    []string
	at      []time.Time // when the client had the responses
	killed  time.Time
	whole   bool // its last words were on disk
}

// cutOff prompts a few times and kills the proxy, 0 to 30 ms after the last response or once its words are on disk.
func (b *box) cutOff(run int, locked bool) *cutOff {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	c, err := b.dial(ctx, nil, echoBin)
	must(b, err)
	one := &cutOff{}
	one.session, err = c.newSession(b.Work)
	must(b, err)
	prompt := func(n int) {
		said := fmt.Sprintf("turn %d.%d %s", run, n, strings.TrimSpace(words))
		must(b, c.prompt(one.session, said))
		one.said, one.at = append(one.said, said), append(one.at, time.Now())
	}
	prompt(0)
	b.wait("the first turn's words on disk", func() bool { return b.logged(one.said[0]) })
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
	if run%2 == 0 { // then no words may be missing
		b.wait("the last turn's words on disk", func() bool { return b.logged(one.said[len(one.said)-1]) })
		one.whole = true
	} else {
		time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
	}
	one.killed = time.Now()
	must(b, c.cmd.Process.Kill())
	c.vanish()
	return one
}

// check looks for the turns, and gives how old those are that lack words. The first one's were on disk.
func (one *cutOff) check(b *box) (wordless []time.Duration) {
	b.t.Helper()
	rows := b.query(`SELECT t.user, t.assistant, t.stop FROM turns t JOIN sessions s ON s.id = t.session
		WHERE s.acp_id = ? ORDER BY t.id`, one.session)
	if len(rows) != len(one.said) {
		b.t.Errorf("%s: %d turns are there, %d were answered", one.session, len(rows), len(one.said))
		return nil
	}
	for i, row := range rows {
		switch {
		case row[2] != "end_turn":
			b.t.Errorf("%s: turn %d ended with %q", one.session, i, row[2])
		case row[0] == one.said[i] && row[1] != "":
		case i > 0 && !one.whole:
			wordless = append(wordless, one.killed.Sub(one.at[i]))
		default:
			b.t.Errorf("%s: turn %d says %q and %q", one.session, i, row[0], row[1])
		}
	}
	return wordless
}

// logged reports whether a prompt and its answer stand in the event log of a living process, or in the database already.
func (b *box) logged(said string) bool {
	files, err := filepath.Glob(filepath.Join(b.Signet, "acp", "live", "*.events"))
	must(b, err)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // it was folded in and has gone
		}
		answered, asked := map[int]bool{}, 0
		for line := range strings.Lines(string(raw)) {
			var e struct {
				Kind string `json:"kind"`
				Turn int    `json:"turn"`
				Text string `json:"text"`
			}
			if json.Unmarshal([]byte(line), &e) != nil {
				continue // it is not whole yet
			}
			switch {
			case e.Kind == "assistant_said":
				answered[e.Turn] = true
			case e.Kind == "user_said" && strings.Contains(e.Text, said):
				asked = e.Turn
			}
		}
		if asked != 0 && answered[asked] {
			return true
		}
	}
	return len(b.query(`SELECT 1 FROM turns WHERE user = ? AND assistant > ''`, said)) > 0
}
