package runtime

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// What matters of a conversation is told to the session that takes its place, whatever its length and that of its
// answers: what it was about, what was decided anywhere in it, the last words, and the files that were changed.
func TestContinuedHoldsFacts(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	db, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	store := correlation.New(db, correlation.Options{LiveDir: t.TempDir(), Now: func() time.Time { return now }})
	dice := rand.New(rand.NewPCG(3, 4))
	chatter := transcriptWriter{dice: dice}
	const cases = 40
	held := 0
	for n := range cases {
		now = now.Add(time.Hour)
		lost, err := correlationtest.Session(t.Context(), store, correlation.OpenSession{Harness: "claude", ACPID: fmt.Sprint("lost-", n),
			Cwd: "/srv/heron", New: true})
		if err != nil {
			t.Fatal(err)
		}
		rounds := 1 + n
		decided := dice.IntN(rounds)
		var facts []string
		for i := range rounds {
			now = now.Add(time.Minute)
			turn := correlation.Turn{Session: lost.ID, Process: "p", User: chatter.words(10 + dice.IntN(60)),
				Assistant: chatter.words(20 + dice.IntN(600)), Started: now, Ended: now, Stop: "end_turn"}
			fact := func(format string) string {
				facts = append(facts, fmt.Sprintf(format, 1000+n))
				return facts[len(facts)-1]
			}
			if i == 0 {
				turn.User = fact("Move the billing of customer %d to Postgres.")
			}
			if i == decided {
				turn.User += ".\n" + fact("We decided to listen on port 7%d from now on.")
			}
			if i == rounds-1 {
				turn.Assistant += "\n\n" + fact("The test of fixture %d still fails.")
				turn.Tools = []correlation.ToolCall{{Kind: "edit", Status: "completed",
					Locations: []string{fmt.Sprintf("/srv/heron/store/f%d.go", 1000+n)}}}
				facts = append(facts, fmt.Sprintf("store/f%d.go", 1000+n))
			}
			if err := correlationtest.Save(t.Context(), store, []correlation.Turn{turn}); err != nil {
				t.Fatal(err)
			}
		}
		next, err := correlationtest.Session(t.Context(), store, correlation.OpenSession{Harness: "claude", ACPID: fmt.Sprint("next-", n),
			Cwd: "/srv/heron", New: true, ContinueOf: lost.ID})
		if err != nil {
			t.Fatal(err)
		}
		told, err := continuedBy(t.Context(), &config.Config{Continue: true}, store, next.ID, []string{"claude"})
		if err != nil {
			t.Fatal(err)
		}
		all := true
		for _, fact := range facts {
			if !strings.Contains(told, fact) {
				all = false
				t.Logf("case %d, of %d rounds, is not told %q", n, rounds, fact)
			}
		}
		if all {
			held++
		}
		if tokens := memory.Tokens(told); tokens > 2000 {
			t.Errorf("case %d: %d tokens", n, tokens)
		}
		if off, err := continuedBy(t.Context(), &config.Config{}, store, next.ID, nil); off != "" || err != nil {
			t.Errorf("with continue off it is told %q, %v", off, err)
		}
	}
	if held < cases*95/100 {
		t.Errorf("%d of %d hold all the facts", held, cases)
	}
}
