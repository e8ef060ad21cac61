package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Whatever moment of an answer somebody kills us in, what was said more than 250 ms before is in the file of events,
// also while the database is locked. The clock is the test's, as in TestDeadlines.
func TestKilledInAnAnswer(t *testing.T) {
	const (
		chunks = 400
		pause  = 10 * time.Millisecond
		limit  = 250 * time.Millisecond
	)
	for _, tt := range []struct {
		name   string
		end    string // of each chunk
		behind int    // bytes that are held back, for they may be half a secret
		locked bool
	}{
		{name: "lines", end: "\n"},
		{name: "one line", end: " ", behind: 256},
		{name: "locked", end: "\n", locked: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newBubble(t)
				said := make([]time.Time, chunks)
				word := func(i int) string { return fmt.Sprintf("word-%04d", i) }
				plain := echo()
				c := w.start(newSource(), func(f map[string]json.RawMessage, line []byte, say func(string, ...any)) {
					if method(f) != methodPrompt {
						plain(f, line, say)
						return
					}
					for i := range chunks {
						time.Sleep(pause)
						said[i] = time.Now()
						say("%s", strings.TrimSuffix(chunk("s1", word(i)+tt.end), "\n"))
					}
					say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, f["id"])
				})
				c.open()
				c.call(1, methodNew, cwd)
				c.synced()
				var db sqlite.Querier = w.db
				if tt.locked {
					tx, err := w.db.BeginTx(t.Context(), nil)
					if err != nil {
						t.Fatal(err)
					}
					defer tx.Rollback()
					db = tx
				}
				c.send(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[%s]}}`,
					textBlock("go on"))
				for at := 0; at < chunks; {
					c.until(word(at))
					killed := time.Now()
					kept := written(t, w, db) // perhaps more than the client has read
					next := min(kept+tt.behind/len(word(0)+tt.end)+1, at)
					if lost := killed.Sub(said[next]); lost > limit+2*pause {
						t.Errorf("%v after the beginning %d of %d words are written: those of %v are lost",
							killed.Sub(said[0]), kept, at, lost)
					}
					at += 1 + rand.IntN(chunks/20)
				}
				c.until(`"id":2,`)
			})
		})
	}
}

// written is how many words are in the database or in event files.
func written(t *testing.T, w *world, db sqlite.Querier) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(filepath.Dir(w.path), "live", "*.events"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := sqlite.Collect(t.Context(), db, sqlite.One[string], `SELECT assistant FROM turns`)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the database has it
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	found := map[string]bool{}
	for _, word := range regexp.MustCompile(`word-\d+`).FindAllString(strings.Join(all, ""), -1) {
		found[word] = true
	}
	return len(found)
}
