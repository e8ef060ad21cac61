package telemetry_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/telemetry"
)

// A world is a database, in which sessions have turns and say what they used.
type world struct {
	t     *testing.T
	db    *sql.DB
	store *correlation.Store
	now   time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	db, err := migrations.Open(t.Context(), filepath.Join(dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &world{t: t, db: db, now: time.Date(2026, 10, 3, 12, 0, 0, 0, time.Local)}
	w.store = correlation.New(db, correlation.Options{LiveDir: filepath.Join(dir, "live"),
		Now: func() time.Time { return w.now }})
	return w
}

func (w *world) exec(statement string, args ...any) int64 {
	w.t.Helper()
	r, err := w.db.Exec(statement, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	id, err := r.LastInsertId()
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *world) session(harness, id string) int64 {
	w.t.Helper()
	s, err := correlationtest.Session(w.t.Context(), w.store, correlation.OpenSession{Harness: harness, ACPID: id, Project: "/p"})
	if err != nil {
		w.t.Fatal(err)
	}
	return s.ID
}

// turn is a minute later than what was before.
func (w *world) turn(session int64, process string) int64 {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	return w.exec(`INSERT INTO turns (session, key, process, started, ended, stop, user) VALUES (?, 'k', ?, ?, ?,
		'end_turn', 'u')`, session, process, w.now.UnixMilli(), w.now.Add(time.Second).UnixMilli())
}

// says reports tokens of a turn; turn 0 is a cost of the session, and nil is nothing.
func (w *world) says(session, turn int64, reporter string, input, output, cost any) {
	w.t.Helper()
	currency := ""
	if cost != nil {
		currency = "USD"
	}
	w.exec(`INSERT INTO usage (session, turn, at, reporter, input, output, cost, currency, raw)
		VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?, ?, '{}')`, session, turn, w.now.UnixMilli(), reporter, input, output,
		cost, currency)
}

func (w *world) sums(by string, since time.Time) []telemetry.Sum {
	w.t.Helper()
	used, err := telemetry.ReadUsage(context.Background(), w.store.Book(), correlation.Scope{Since: since},
		by == telemetry.ByDay || by == telemetry.ByWeek)
	if err != nil {
		w.t.Fatal(err)
	}
	return used.Sums(by)
}

func n[N any](v N) *N { return &v }

func TestUsage(t *testing.T) {
	usd := n("USD")
	for _, c := range []struct {
		name, harness string
		say           func(w *world, s int64)
		want          telemetry.Sum
	}{
		{"nothing is reported", "qwen-code", func(w *world, s int64) { w.turn(s, "1") },
			telemetry.Sum{Turns: 1}},
		{"the turns' own", "codex", func(w *world, s int64) {
			w.says(s, w.turn(s, "1"), "result", 10, 5, nil)
			w.says(s, w.turn(s, "1"), "result", 20, 7, nil)
		}, telemetry.Sum{Turns: 2, InputTokens: n(int64(30)), OutputTokens: n(int64(12)), Reported: true, Counted: 2}},
		{"zero is a figure", "opencode", func(w *world, s int64) { w.says(s, w.turn(s, "1"), "result", 0, nil, 0.0) },
			telemetry.Sum{Turns: 1, InputTokens: n(int64(0)), Cost: n(0.0), Currency: usd, Reported: true, Counted: 1}},
		{"a turn's result is heeded, not its quota, and the last one", "codex", func(w *world, s int64) {
			turn := w.turn(s, "1")
			w.says(s, turn, "quota", 500, 500, nil)
			w.says(s, turn, "result", 1, 1, nil)
			w.says(s, turn, "result", 10, 5, nil)
			w.says(s, turn, "quota", 700, 700, nil)
		}, telemetry.Sum{Turns: 1, InputTokens: n(int64(10)), OutputTokens: n(int64(5)), Reported: true, Counted: 1}},
		{"totals of a process", "copilot", func(w *world, s int64) {
			w.says(s, w.turn(s, "1"), "result", 10, 5, nil)
			w.says(s, w.turn(s, "1"), "result", 10, 5, nil)
			w.says(s, w.turn(s, "1"), "result", 20, 10, nil)
			w.says(s, w.turn(s, "2"), "result", 30, 20, nil)
		}, telemetry.Sum{Turns: 4, InputTokens: n(int64(50)), OutputTokens: n(int64(30)), Reported: true, Counted: 4}},
		{"a cost of the session", "opencode", func(w *world, s int64) {
			w.turn(s, "1")
			w.says(s, 0, "update", nil, nil, 0.25)
			w.says(s, 0, "update", nil, nil, 0.5)
			w.turn(s, "2")
			w.says(s, 0, "update", nil, nil, 0.75)
		}, telemetry.Sum{Turns: 2, Cost: n(0.75), Currency: usd, Reported: true}},
		{"a cost of the process", "@agentclientprotocol/claude-agent-acp", func(w *world, s int64) {
			w.turn(s, "1")
			w.says(s, 0, "update", nil, nil, 0.25)
			w.says(s, 0, "update", nil, nil, 0.5)
			w.turn(s, "2")
			w.says(s, 0, "update", nil, nil, 0.75)
		}, telemetry.Sum{Turns: 2, Cost: n(1.25), Currency: usd, Reported: true}},
		{"a total that falls began anew", "anybody", func(w *world, s int64) {
			w.turn(s, "1")
			w.says(s, 0, "update", nil, nil, 0.5)
			w.says(s, 0, "update", nil, nil, 0.25)
		}, telemetry.Sum{Turns: 1, Cost: n(0.75), Currency: usd, Reported: true}},
		{"negative and absurd figures are none", "codex", func(w *world, s int64) {
			w.says(s, w.turn(s, "1"), "result", -10, int64(1)<<62, -1.0)
			w.says(s, w.turn(s, "1"), "result", -10, 5, 1e300)
		}, telemetry.Sum{Turns: 2, OutputTokens: n(int64(5)), Reported: true, Counted: 1}},
		{"a turn that is not named is one", "codex", func(w *world, s int64) {
			w.turn(s, "1")
			w.says(s, 0, "result", 10, 5, nil)
			w.turn(s, "1")
			w.says(s, 0, "result", 10, 5, nil)
		}, telemetry.Sum{Turns: 2, InputTokens: n(int64(20)), OutputTokens: n(int64(10)), Reported: true, Counted: 2}},
		{"two currencies", "codex", func(w *world, s int64) {
			w.turn(s, "1")
			w.says(s, 0, "update", nil, nil, 0.5)
			w.exec(`INSERT INTO usage (session, at, reporter, cost, currency, raw) VALUES (?, ?, 'update', 2, 'EUR',
				'{}')`, s, w.now.UnixMilli())
		}, telemetry.Sum{Turns: 1, Costs: map[string]float64{"USD": .5, "EUR": 2}, Reported: true}},
		{"what memory added", "codex", func(w *world, s int64) {
			w.turn(s, "1")
			for _, outcome := range []string{"kept", "refused"} {
				w.exec(`INSERT INTO injections (session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at,
					outcome, items, text)
					VALUES (?, 'k', 'context', 'b', 'embedded', 1100, 1, 1, ?, ?, '[]', 't')`, s, w.now.UnixMilli(),
					outcome)
			}
		}, telemetry.Sum{Turns: 1, MemoryBytes: 1100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			session := w.session(c.harness, "a")
			c.say(w, session)
			bySession, err := telemetry.SessionSums(t.Context(), w.store.Book(), correlation.Scope{})
			if err != nil {
				t.Fatal(err)
			}
			alone := c.want // what harnesses report, without what else is known of a session
			alone.Turns, alone.MemoryBytes = 0, 0
			if diff := cmp.Diff(alone, bySession[session]); diff != "" {
				t.Errorf("of the session (-want +got)\n%s", diff)
			}
			c.want.Key, c.want.Sessions = c.harness, 1
			if diff := cmp.Diff([]telemetry.Sum{c.want}, w.sums(telemetry.ByHarness, time.Time{})); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// However it is summed up, it is the same, and what was before does not count twice.
func TestUsageBy(t *testing.T) {
	w := newWorld(t)
	one, two := w.session("copilot", "one"), w.session("codex", "two")
	w.says(one, w.turn(one, "1"), "result", 10, 5, nil)
	w.now = w.now.AddDate(0, 0, 1)
	later := w.now
	w.says(one, w.turn(one, "1"), "result", 25, 10, nil)
	w.says(two, w.turn(two, "2"), "result", 1, 1, nil)
	keys := func(sums []telemetry.Sum) (all []string) {
		for _, s := range sums {
			all = append(all, s.Key+" "+time.Duration(*s.InputTokens).String())
		}
		return all
	}
	for by, want := range map[string][]string{
		telemetry.ByDay:     {"2026-10-03 10ns", "2026-10-04 16ns"},
		telemetry.ByHarness: {"codex 1ns", "copilot 25ns"},
		telemetry.ByProject: {"/p 26ns"},
		telemetry.BySession: {"one 25ns", "two 1ns"},
		"":                  {" 26ns"}, // all in one
	} {
		if diff := cmp.Diff(want, keys(w.sums(by, time.Time{}))); diff != "" {
			t.Errorf("by %s (-want +got)\n%s", by, diff)
		}
	}
	if diff := cmp.Diff([]string{"codex 1ns", "copilot 15ns"}, keys(w.sums(telemetry.ByHarness, later))); diff != "" {
		t.Errorf("since the second day (-want +got)\n%s", diff)
	}
}

func TestWords(t *testing.T) {
	for want, s := range map[string]telemetry.Sum{
		"":                   {},
		"1.25 USD":           {Cost: n(1.25), Currency: n("USD")},
		"0.00028 USD":        {Cost: n(0.00028), Currency: n("USD")},
		"0.00 USD":           {Cost: n(0.0), Currency: n("USD")},
		"<0.0001":            {Cost: n(1e-9)},
		"2.00 EU + 0.50 USD": {Costs: map[string]float64{"USD": .5, "EU": 2}},
	} {
		if got := s.Price(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := telemetry.Figure(1234567) + telemetry.Figure(-123) +
		telemetry.Figure(-1234); got != "1,234,567-123-1,234" {
		t.Error(got)
	}
	var sizes []string
	for _, n := range []int64{0, 999, 1100, 2_500_000} {
		sizes = append(sizes, telemetry.Bytes(n))
	}
	if got := strings.Join(sizes, ", "); got != "0 B, 999 B, 1.1 KB, 2.5 MB" {
		t.Error(got)
	}
}

// What notes cost is summed up as far as the agents say it.
func TestNotes(t *testing.T) {
	tokens := int64(1200)
	var sum telemetry.Notes
	for _, one := range []struct {
		noting correlation.Noting
		want   string
	}{
		{correlation.Noting{Error: "no answer"}, "notes: asked once, 0 kept"},
		{correlation.Noting{Notes: 3, Tokens: &tokens}, "notes: asked 2 times, 3 kept, 1,200 tokens"},
		{correlation.Noting{Notes: 1, Tokens: &tokens, Cost: n(.5), Currency: "USD"},
			"notes: asked 3 times, 4 kept, 2,400 tokens, 0.50 USD"},
	} {
		if sum.Add(one.noting); sum.String() != one.want {
			t.Errorf("%q, want %q", &sum, one.want)
		}
	}
	if none := (*telemetry.Notes)(nil).String(); none != "" {
		t.Error(none)
	}
}

// What became of recalled items is summed up like usage, and said in words.
func TestUses(t *testing.T) {
	w := newWorld(t)
	for _, one := range []struct {
		session, item, kind string
		state               int
		at                  time.Time
	}{
		{"a", "file:x", correlation.UseFile, correlation.Used, w.now}, // a Saturday
		{"a", "file:y", correlation.UseFile, correlation.NotSeen, w.now},
		{"a", "m", correlation.UseWords, correlation.NotSeen, w.now.AddDate(0, 0, 1)},
		{"b", "r", correlation.UseRule, correlation.SaidAgain, w.now.AddDate(0, 0, 2)},
	} {
		w.exec(`INSERT INTO uses (session, item, kind, state, at) VALUES (?, ?, ?, ?, ?)`, w.session("claude", one.session),
			one.item, one.kind, one.state, one.at.UnixMilli())
	}
	used, err := telemetry.ReadUsage(t.Context(), w.store.Book(), correlation.Scope{}, true)
	if err != nil {
		t.Fatal(err)
	}
	for by, want := range map[string][]string{
		telemetry.ByHarness: {"claude: 3 recalled, 1 used (33 %): files 1 of 2, notes 0 of 1; " +
			"rules: 1 recalled, 1 repeated by the user"},
		telemetry.ByWeek: {"2026-09-28: 3 recalled, 1 used (33 %): files 1 of 2, notes 0 of 1",
			"2026-10-05: rules: 1 recalled, 1 repeated by the user"},
	} {
		var got []string
		for _, s := range used.Sums(by) {
			got = append(got, s.Key+": "+telemetry.OfUse(s.Uses))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(by, diff)
		}
	}
}
