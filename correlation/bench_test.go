package correlation_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
)

// crowd fills a database with 10,000 sessions of 10 turns, some of which go on in others.
func crowd(b *bench) {
	b.tb.Helper()
	tx := must(b.db.BeginTx(b.ctx(), nil))(b.tb)
	for _, query := range []string{
		`WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
			INSERT INTO sessions (harness, acp_id, key, record, continue_of, state, started, last_active)
			SELECT 'claude', printf('%032x', i * 7919), printf('acp-%026d', i), iif(i % 3, printf('rec-%d', i / 2), ''),
			iif(i % 10 = 9, i - 1, NULL), 'done', i, i FROM n`,
		`INSERT INTO session_keys (key, session, n, created) SELECT key, id, 1, 1 FROM sessions`,
		`WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 10)
			INSERT INTO turns (session, key, process, started, ended, user, assistant, daemon_delivery)
			SELECT s.id, s.key, 'p', 1, 2, 'user', replace(printf('%500s', ''), ' ', 'word '), 1 FROM sessions s, n`,
		`INSERT INTO injections (session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at, outcome, items,
			text)
			SELECT id, key, 'context', 'b', 'daemon', 10, 1, 1, 1, 'kept', '[]', replace(printf('%500s', ''), ' ',
			'word ') FROM sessions`,
	} {
		_, err := tx.ExecContext(b.ctx(), query)
		check(b.tb, err)
	}
	check(b.tb, tx.Commit())
}

func Benchmark(b *testing.B) {
	w := newBench(b)
	crowd(w)
	p := w.register(ProcessInfo{Memory: "daemon"})
	v := w.open(OpenSession{ACPID: "a session of some length", Process: p.ID()})
	text := strings.Repeat("word ", 2000)
	ctx := b.Context()
	turn := w.turn(v.ID, p.ID(), "hello", "hi")
	for name, op := range map[string]func(i int) error{
		"register and end": func(int) error {
			p, err := w.Register(ctx, ProcessInfo{Kind: Relay})
			if err != nil {
				return err
			}
			return p.End(ctx, "eof")
		},
		"open a known session": func(int) error {
			_, err := correlationtest.Session(ctx, w.Store, OpenSession{Harness: "claude", ACPID: v.ACPID, Process: p.ID()})
			return err
		},
		"open a new session": func(i int) error {
			_, err := correlationtest.Session(ctx, w.Store, OpenSession{Harness: "claude", ACPID: fmt.Sprint(b.Name(), i), New: true})
			return err
		},
		"find": func(int) error {
			_, err := w.Find(ctx, "other", v.ACPID)
			return err
		},
		"claim and settle": func(int) error {
			if _, err := w.Claim(ctx, v.ID, []State{Armed}, p.ID(), Injection{Key: v.Key, Text: "x"}); err != nil {
				return err
			}
			return w.tryStep(v.ID, p.ID(), nil, Event{Name: Refused})
		},
		"write 10 KB": func(int) error { return correlationtest.Save(ctx, w.Store, []Turn{{ID: turn, Assistant: text}}) },
		"begin and end a turn": func(int) error {
			turn := []Turn{{Session: v.ID, Process: p.ID(), User: "hello"}}
			if err := correlationtest.Save(ctx, w.Store, turn); err != nil {
				return err
			}
			turn[0].Ended, turn[0].Stop = w.clock.Now(), "end_turn"
			return correlationtest.Save(ctx, w.Store, turn)
		},
		"sweep": func(int) error {
			_, err := w.SweepDead(ctx, nil)
			return err
		},
		"list 50 sessions": func(int) error {
			_, err := w.Sessions(ctx, 50)
			return err
		},
		"resolve a prefix": func(int) error {
			_, err := w.Resolve(ctx, "a sess")
			return err
		},
		"resolve a record": func(int) error {
			_, err := w.Resolve(ctx, "rec-4000")
			return err
		},
		"dry run of prune": func(int) error {
			_, err := w.Prune(ctx, PruneOptions{Keep: 5000, DryRun: true})
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if err := op(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
