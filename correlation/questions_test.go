package correlation_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/Signet-AI/signet-acp-proxy/correlation"
)

// What other packages ask of one small database: three sessions, the second of which continues the first and was handed
// to the third, which the first has called.
func TestQuestions(t *testing.T) {
	b := newBench(t)
	for _, query := range []string{
		`INSERT INTO sessions (id, harness, acp_id, key, cwd, project, agent_id, client, parent_key, continue_of, state, started, last_active)
			VALUES (1, 'claude', 'a', 'k1', '/p/x', '/p', 'alto', '', '', NULL, 'done', 10, 1000),
			(2, 'codex', 'b', 'k2', '/q', '/q', '', '', '', 1, 'done', 20, 2000),
			(3, 'claude', 'c', 'k3', '', '/p', '', 'backfill:claude', 'k1', NULL, 'done', 30, 1900000)`,
		`INSERT INTO session_keys (key, session, n, created) VALUES ('k0', 1, 1, 1), ('k1', 1, 2, 1), ('k2', 2, 1, 1), ('k3', 3, 1, 1)`,
		`INSERT INTO attachments (process, n, session) VALUES ('p', 7, 1)`,
		`INSERT INTO turns (id, session, key, process, started, ended, stop, user, assistant, learned) VALUES
			(1, 1, 'k1', 'p', 100, 110, 'end_turn', 'hello', 'Hi there', 1), (2, 1, 'k1', 'p', 200, 0, '', 'more', '', 0),
			(3, 2, 'k2', 'q', 300, 310, 'cancelled', 'first of two', 'there', 0), (4, 2, 'k2', 'q', 400, 410, 'end_turn', 'y', 'z', 1)`,
		`INSERT INTO injections (id, session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at, outcome, items, text) VALUES
			(1, 1, 'k1', 'context', 'b1', 'x', 10, 1, 5, 100, 'kept', '["m1"]', 'one two'),
			(2, 2, 'k2', 'context', 'b2', 'x', 20, 1, 90, 300, 'refused', '["m2"]', 'three'),
			(3, 2, 'k2', 'recall', 'b3', 'x', 30, 1, 1, 300, 'doubt', '["m1","m3"]', 'four'),
			(4, 1, 'k1', 'recall', 'b4', 'x', 2, 1, 9, 400, 'kept', '[]', 'five')`,
		`INSERT INTO events (id, at, kind, process, session, turn, data) VALUES (1, 110, 'turn_ended', 'p', 1, 1, '{}'),
			(2, 120, 'daemon_warned', 'p', 1, NULL, '{"text":"old"}'), (3, 300, 'daemon_warned', 'q', 2, NULL, '{"text":"new"}'),
			(4, 310, 'turn_ended', 'q', 2, 3, '{}'), (5, 320, 'daemon_warned', 'q', 2, NULL, '{"text":"old"}'),
			(6, 330, 'process_ended', 'q', NULL, NULL, '{}')`,
		`INSERT INTO usage (id, session, turn, at, reporter, context_used, context_size, raw) VALUES (1, 1, 1, 110, 'update', 5, 100, '{}'),
			(2, 1, NULL, 120, 'update', 7, 100, '{}'), (3, 1, 2, 130, 'result', NULL, NULL, '{}'), (4, 2, 3, 310, 'result', NULL, NULL, '{}')`,
		fmt.Sprintf(`INSERT INTO handoffs (id, session, agent, place, at, taken_by) VALUES (1, 2, 'claude', '/p', 1, 3),
			(2, 1, 'codex', '/q', %[1]d, NULL), (3, 2, 'gemini', '/q', %[1]d, NULL), (4, 3, 'codex', '/old', 1, NULL)`,
			b.clock.Now().UnixMilli()),
		`INSERT INTO debts (id, session, key, kind, reason, state, created, owed, due, failures, done) VALUES
			(1, 1, 'k1', 'daemon', 'x', 'owed', 1, 1, 9000000000000, 1, 0), (2, 2, 'k2', 'daemon', 'x', 'owed', 1, 1, 9000000000000, 0, 0),
			(3, 3, 'k3', 'daemon', 'x', 'owed', 1, 1, 9000000000000, 0, 0), (4, 3, 'k3', 'hook', 'x', 'dead', 1, 1, 9000000000000, 1, 1)`,
	} {
		if _, err := b.db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	some := Scope{Sessions: []int64{1, 3}}
	p, none := "/p", Scope{Sessions: []int64{}}
	list := func(l Listing) func() (any, error) {
		if l.Limit == 0 {
			l.Limit = 9
		}
		return func() (any, error) { return b.Book().List(ctx, l) }
	}
	each := func(f func(do func(...any)) error) func() (any, error) {
		return func() (any, error) {
			s := ""
			err := f(func(a ...any) { s += fmt.Sprint(a...) + "; " })
			return s, err
		}
	}
	for i, tt := range []struct {
		ask  func() (any, error)
		want string
	}{
		{list(Listing{}), "[3 2 1]"},
		{list(Listing{Limit: 2}), "[3 2]"},
		{list(Listing{After: 3}), "[2 1]"},
		{list(Listing{Project: &p}), "[3 1]"},
		{list(Listing{Harnesses: []string{"codex", "x"}}), "[2]"},
		{list(Listing{Harnesses: []string{}}), "[]"},
		{list(Listing{Agent: "alto"}), "[1]"},
		{list(Listing{Since: at(2000)}), "[3 2]"},
		{list(Listing{Until: at(2000)}), "[1]"},
		{list(Listing{Sessions: map[int64]bool{1: true, 2: true}}), "[2 1]"},
		{list(Listing{Sessions: map[int64]bool{}}), "[]"},
		{func() (any, error) {
			n, err := b.Book().Kinds(ctx)
			return fmt.Sprint(len(n), n[1].Project, n[1].Harness, n[1].Agent, n[2].Project, n[2].Sessions), err
		}, "3/pclaudealto/q1"},
		{func() (any, error) {
			n, err := b.Book().Moments(ctx, 1898*time.Second)
			return fmt.Sprint(len(n), n[0].Project, n[1].Active.UnixMilli()), err
		}, "2/q1800000"},
		{func() (any, error) { return b.Book().Related(ctx, 1) }, "[2 3]"},
		{func() (any, error) { return b.Book().Related(ctx, 3) }, "[1]"},
		{func() (any, error) { return b.Book().KeysOnwards(ctx, "k0") }, "[k0 k1 k2 k3]"},
		{func() (any, error) { return b.Book().KeysOnwards(ctx, "k3") }, "[k3]"},
		{func() (any, error) { return b.Book().OpenTurn(ctx, "k1") }, "2"},
		{func() (any, error) { return b.Book().OpenTurn(ctx, "k2") }, "0"},
		{func() (any, error) {
			stop, open, err := b.Book().TurnStands(ctx, 1)
			return fmt.Sprint(stop, open), err
		}, "end_turntrue"},
		{func() (any, error) {
			stop, open, err := b.Book().TurnStands(ctx, 2)
			return fmt.Sprint(stop, open), err
		}, "true"},
		{func() (any, error) {
			stop, open, err := b.Book().TurnStands(ctx, 3)
			return fmt.Sprint(stop, open), err
		}, "cancelledfalse"},
		{func() (any, error) {
			stop, open, err := b.Book().TurnStands(ctx, 9)
			return fmt.Sprint(stop, open), err
		}, "false"},
		{func() (any, error) { return b.Book().Worker(ctx, "c", "k1") }, "3"},
		{func() (any, error) { return b.Book().Worker(ctx, "x", "k1") }, "0"},
		{func() (any, error) { return b.Book().WasInserted(ctx, "m1", at(300)) }, "true"},
		{func() (any, error) { return b.Book().WasInserted(ctx, "m1", at(301)) }, "false"},
		{func() (any, error) { return b.Book().WasInserted(ctx, "m2", at(0)) }, "false"},
		{func() (any, error) {
			n, err := b.Book().Names(ctx, some)
			return fmt.Sprint(len(n), n[0].ID, n[0].Harness, n[0].Project, n[0].ACPID, n[1].ID), err
		}, "2 1claude/pa3"},
		{func() (any, error) { return b.Book().Harnesses(ctx) }, "[claude codex]"},
		{each(func(do func(...any)) error {
			return b.Book().TurnStarts(ctx, Scope{Since: at(200)}, true, func(n int64, at time.Time, _ int) { do(n, at.UnixMilli()) })
		}), "1 200; 2 300; 2 400; "},
		{each(func(do func(...any)) error {
			return b.Book().TurnStarts(ctx, Scope{}, false, func(session int64, _ time.Time, n int) { do(session, n) })
		}), "1 2; 2 2; "},
		{each(func(do func(...any)) error {
			return b.Book().TurnStarts(ctx, Scope{Since: at(200)}, false, func(session int64, _ time.Time, n int) { do(session, n) })
		}), "1 1; 2 2; "},
		{each(func(do func(...any)) error {
			return b.Book().InsertedBytes(ctx, Scope{Since: at(300)}, func(n int64, _ time.Time, size int64) { do(n, size) })
		}), "2 30; 1 2; "},
		{each(func(do func(...any)) error {
			return b.Book().UsageReports(ctx, some, []string{"claude"}, func(r UsageReport) { do(r.Session, r.Turn, r.Harness, r.Process) })
		}), "1 1claudep; 1 0claudep; 1 2claudep; "},
		{each(func(do func(...any)) error {
			return b.Book().UsageReports(ctx, Scope{}, nil, func(r UsageReport) { do(r.Session, r.Turn, r.Process) })
		}), "1 1; 1 0; 1 2; 2 3; "},
		{func() (any, error) { return b.Book().FirstWords(ctx, Scope{}) }, "map[1:hello 2:hello]"},
		{func() (any, error) { return b.Book().FirstWords(ctx, Scope{Sessions: []int64{3}}) }, "map[]"},
		{func() (any, error) { return b.Book().Mentioning(ctx, "THERE", false) }, "map[1:true 2:true]"},
		{func() (any, error) { return b.Book().Mentioning(ctx, "Hello", false) }, "map[1:true]"},
		{func() (any, error) { return b.Book().Mentioning(ctx, "there", true) }, "map[2:true]"},
		{func() (any, error) { return b.Book().Mentioning(ctx, "more", true) }, "map[1:true]"},
		{func() (any, error) { return b.Book().Warnings(ctx, 2) }, "[old new]"},
		{func() (any, error) {
			e, err := b.Book().Events(ctx, 2, 1, 2)
			return fmt.Sprint(len(e), e[0].ID, e[1].ID), err
		}, "2 2 3"},
		{func() (any, error) { return b.EventSession(ctx, "p", 7) }, "1"},
		{func() (any, error) { return b.Book().HandoffFor(ctx, "/q", []string{"codex", "openai"}) }, "1"},
		{func() (any, error) { return b.Book().HandoffFor(ctx, "/q", []string{"claude"}) }, "0"},
		{func() (any, error) { return b.Book().HandoffFor(ctx, "/p", []string{"claude"}) }, "0"},
		{func() (any, error) { return b.Book().HandoffFor(ctx, "/old", []string{"codex"}) }, "0"},
		{func() (any, error) { s, err := b.Book().FindByKey(ctx, "k0"); return s.ID, err }, "1"},
		{func() (any, error) { return b.Book().Projects(ctx) }, "[/p /p/x /q]"},
		{func() (any, error) { return b.Book().Imported(ctx, "backfill:claude") }, "[3]"},
		{each(func(do func(...any)) error {
			return b.Book().NewestTurns(ctx, Scope{}, 3, 3, func(e Excerpt) { do(e.ID, e.User, e.UserSize, e.Assistant, e.AssistantSize) })
		}), "4y1z1; 3fir12the5; 2mor40; "},
		{each(func(do func(...any)) error {
			return b.Book().NewestTurns(ctx, some, 9, 1, func(e Excerpt) { do(e.ID) })
		}), "2; "},
		{func() (any, error) {
			s, err := b.Book().SessionsIn(ctx, Scope{Sessions: []int64{2}})
			return fmt.Sprint(len(s), s[0].Turns), err
		}, "1 2"},
		{func() (any, error) { s, err := b.Book().SessionsIn(ctx, none); return len(s), err }, "0"},
		{func() (any, error) { return b.Book().KeysIn(ctx, some) }, "map[k0:1 k1:1 k3:3]"},
		{func() (any, error) { return b.Book().SessionsByKey(ctx, []string{"k0", "k2"}) }, "map[k0:1 k2:2]"},
		{each(func(do func(...any)) error {
			return b.Book().InjectionsIn(ctx, some, 3, -1, func(i Injection) { do(i.ID, i.Text) })
		}), "4fiv; 1one; "},
		{each(func(do func(...any)) error {
			return b.Book().InjectionsIn(ctx, Scope{}, 0, 2, func(i Injection) { do(i.ID, i.Text) })
		}), "4; 3; "},
		{func() (any, error) {
			turns, sessions, err := b.Book().Totals(ctx)
			return fmt.Sprint(turns, sessions), err
		}, "4 3"},
		{func() (any, error) { return b.Book().InsertionCost(ctx) }, "{3 42 5 9}"},
		{func() (any, error) { return b.Book().Pulse(ctx, 2) }, "{3 3 6 [1] [2]}"},
		{func() (any, error) { return b.Book().ToldTo(ctx, "m1") }, "2"},
		{func() (any, error) { return b.Book().ToldTo(ctx, "m2") }, "0"},
		{func() (any, error) { return b.Book().Told(ctx, []string{"m1", "m2", "m9"}) }, "[m1]"},
		{func() (any, error) {
			w, err := b.Book().Windows(ctx, Scope{})
			return fmt.Sprint(len(w), *w[1].ContextUsed), err
		}, "1 7"},
		{func() (any, error) { s, err := SaidIn(ctx, b.db, 3); return s.User, err }, "first of two"},
		{func() (any, error) { _, err := SaidIn(ctx, b.db, 9); return errors.Is(err, sql.ErrNoRows), nil }, "true"},
		{func() (any, error) { return nil, b.SetTitle(ctx, 1, "b1", "h") }, "<nil>"},
		{func() (any, error) { err := b.SetTitle(ctx, 1, "b2", "h"); return errors.Is(err, ErrNotFound), nil }, "true"},
		{func() (any, error) { return nil, b.Debts().Bypass(ctx, "k1") }, "<nil>"},
		{func() (any, error) { return b.Debts().Bypassed(ctx, "k1") }, "true"},
		{func() (any, error) { return b.Debts().Bypassed(ctx, "k2") }, "false"},
		{func() (any, error) {
			return b.count("SELECT count(*) FROM debts WHERE due < 9000000000000"), b.Debts().MakeDue(ctx)
		}, "0"},
		{func() (any, error) { return b.count("SELECT sum(id) FROM debts WHERE due < 9000000000000"), nil }, "1"},
	} {
		if got, err := tt.ask(); fmt.Sprint(got) != tt.want || err != nil {
			t.Errorf("question %d: %v, %v, want %s", i, got, err, tt.want)
		}
	}
	check(t, b.db.Close())
	if b.Checkpoint(ctx) == nil {
		t.Error("what was forgotten counts as erased from a database that is closed")
	}
}
