package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/memory"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
)

// What the canary is told, and what it is asked in the next session.
const (
	canaryProject = "/canary"
	canarySays    = "Today we measured the mast of the Curlew. It is 11.42 metres long."
	canaryAsks    = "How long is the mast of the Curlew?"
	canaryKnows   = "11.42 metres"
)

// remembers has a turn written, learned from, and recalled in the next session's block, as for an agent: in a copy of
// the database's schema in memory, with its triggers, whatever others have made of them. The database itself is only
// read, and nobody waits for it. One of an earlier version is brought up to date first, by a session.
func (e *examination) remembers(ctx context.Context) []finding {
	if e.c.DB == "" || e.c.Memory == "off" {
		return nil
	}
	db, err := migrations.Look(e.c.DB)
	if err != nil { // none yet, or the check of the database says why
		return nil
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if missing, err := migrations.Missing(ctx, db); err != nil || len(missing) > 0 {
		return nil
	}
	begun := time.Now()
	step, err := canary(ctx, db)
	if err != nil {
		return problem("check the database; else report it",
			"a test memory was not recalled. %s: %v", step, err)
	}
	return fine("a test memory was saved and recalled in %d ms", max(1, time.Since(begun).Milliseconds()))
}

// canary returns the step that failed.
func canary(ctx context.Context, of *sql.DB) (step string, err error) {
	defer func() { // a mistake of ours is what doctor is to name
		if mistake := recover(); mistake != nil {
			err = fmt.Errorf("it panicked: %v", mistake)
		}
	}()
	step = "Copying the schema"
	db, err := migrations.Blank(ctx, of)
	if err != nil {
		return step, err
	}
	defer db.Close()
	journal := correlation.New(db, correlation.Options{})
	memories := embedded.New(db, embedded.Options{})
	step = "Writing a turn"
	if err := writeCanary(ctx, journal); err != nil {
		return step, err
	}
	step = "Reading it"
	s, err := journal.Find(ctx, "canary", "canary")
	if err != nil {
		return step, err
	}
	turns, err := journal.Book().Turns(ctx, s.ID)
	if err == nil && (len(turns) != 1 || turns[0].User != canarySays) {
		err = errors.New("it is not stored as it was written")
	}
	if err != nil {
		return step, err
	}
	step = "Learning from it"
	if err := memories.Learn(ctx); err != nil {
		return step, err
	}
	step = "Recalling it"
	next := memory.Session{Key: correlation.NewKey(), Project: canaryProject, Cwd: canaryProject}
	told, err := memories.Recall(ctx, next, canaryAsks, nil)
	if err != nil {
		return step, err
	}
	step = "Inserting it"
	if block, _ := memory.Compose(next.Key, memory.Context{}, told, false); !strings.Contains(block.Text, canaryKnows) {
		return step, errors.New("the next session's block does not have it")
	}
	return "", nil
}

func writeCanary(ctx context.Context, journal *correlation.Store) error {
	return journal.Batch(ctx, "canary", func(b *correlation.Batch) error {
		for _, e := range []correlation.Event{
			correlation.Opened{Session: 1, Open: correlation.OpenSession{Harness: "canary", ACPID: "canary", New: true,
				Cwd: canaryProject, Project: canaryProject, Made: time.Now(), Key: correlation.NewKey()}},
			correlation.TurnBegan{Session: 1, Turn: 1},
			correlation.UserSaid{Turn: 1, Text: canarySays},
			correlation.AssistantSaid{Turn: 1, Text: "I will remember that."},
			correlation.TurnEnded{Turn: 1, Stop: "end_turn"},
		} {
			if err := b.Apply(e); err != nil {
				return err
			}
		}
		return nil
	})
}
