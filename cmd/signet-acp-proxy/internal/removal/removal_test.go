package removal

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/config"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/runtime"
	"github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy/internal/term"
	"github.com/Signet-AI/signet-acp-proxy/correlation"
	"github.com/Signet-AI/signet-acp-proxy/correlation/correlationtest"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// secret is a word of what was said.
const secret = "spokeshave"

// fill leaves a conversation of two sessions and one that was forked from it, with a row in every table that hangs on
// them, and returns the row of the one that is asked for.
func fill(t *testing.T, d *runtime.Data) correlation.Session {
	t.Helper()
	ctx := t.Context()
	p, err := d.Sessions.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "daemon"})
	check(t, err)
	open := func(id string) correlation.Session {
		s, err := correlationtest.Session(ctx, d.Sessions, correlation.OpenSession{Harness: "echo", ACPID: id, Process: p.ID()})
		check(t, err)
		for _, said := range []string{"I prefer the " + secret + " over the plane.", "The mast is 11.42 metres long."} {
			check(t, correlationtest.Save(ctx, d.Sessions, []correlation.Turn{{Session: s.ID, Process: p.ID(), User: said,
				Assistant: "Noted.", Ended: time.Now()}}))
		}
		return s
	}
	old, s, fork := open("sess-of-the-beginning"), open("sess-that-went-on"), open("sess-that-was-forked")
	for _, statement := range []string{
		fmt.Sprintf(`UPDATE sessions SET continue_of = %d WHERE id = %d`, old.ID, s.ID),
		fmt.Sprintf(`UPDATE sessions SET fork_of = %d WHERE id = %d`, s.ID, fork.ID),
		fmt.Sprintf(`UPDATE sessions SET context_at = 1, context = x'00ff27' WHERE id = %d`, s.ID),
		fmt.Sprintf(`INSERT INTO injections (session, key, kind, block_id, source, bytes, fetch_ms, held_ms, at,
			outcome, items, text) VALUES (%d, 'k', 'context', 'b', 'embedded', 1, 1, 1, 1, 'kept', '[]',
			'it''s')`, s.ID),
		fmt.Sprintf(`INSERT INTO attachments (process, n, session, closed) VALUES ('p', 1, %d, 1)`, s.ID),
		fmt.Sprintf(`INSERT INTO events (at, kind, process, session, turn, data)
			SELECT 1, 'turn_began', 'p', session, id, '{}' FROM turns WHERE session = %d`, s.ID),
		fmt.Sprintf(`INSERT INTO usage (session, at, reporter, input, cost, raw) VALUES (%d, 1, 'update', 7, 0.1,
			'{}')`, s.ID),
		fmt.Sprintf(`INSERT INTO debts (session, key, kind, reason, state, created, owed, due)
			VALUES (%d, 'k', 'daemon', 'ended', 'owed', 1, 1, 1)`, s.ID),
	} {
		_, err := d.DB.ExecContext(ctx, statement)
		check(t, err)
	}
	check(t, p.End(ctx, "ended"))
	_, _, err = d.Memories.Add(ctx, embedded.Memory{Content: "Ines prefers the " + secret + ".", Source: "memory add"})
	check(t, err)
	for range 3 { // one leaves what takes longer than two seconds to the next
		check(t, d.Memories.Learn(ctx))
	}
	return s
}

// rows are all that the tables of the schema hold, the index's own excepted.
func rows(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	tables, err := sqlite.Collect(t.Context(), db, sqlite.One[string], `SELECT name FROM pragma_table_list
		WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'`)
	check(t, err)
	all := map[string][]string{}
	for _, table := range tables {
		if slices.Contains(embedded.Derived, table) {
			continue
		}
		columns, err := sqlite.Collect(t.Context(), db, sqlite.One[string], `SELECT 'quote("' || name || '")'
			FROM pragma_table_info(?)`, table)
		check(t, err)
		all[table], err = sqlite.Collect(t.Context(), db, sqlite.One[string],
			`SELECT `+strings.Join(columns, `||' '||`)+` FROM `+table)
		check(t, err)
		slices.Sort(all[table])
	}
	return all
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func opened(t *testing.T) *runtime.Data {
	t.Helper()
	t.Setenv("SIGNET_ACP_LOG_FILE", "-")
	c, err := config.Load(config.Flags{SignetPath: t.TempDir(), Memory: "embedded"})
	check(t, err)
	d, err := runtime.OpenData(t.Context(), c, silent())
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func silent() term.Streams { return term.Streams{Out: new(bytes.Buffer), Err: new(bytes.Buffer)} }

// Whatever goes comes back as it was: each row of each table, and what a search finds.
func TestUndo(t *testing.T) {
	for name, remove := range map[string]func(context.Context, Removal, correlation.Session) error{
		"a conversation": func(ctx context.Context, r Removal, s correlation.Session) error { return r.Session(ctx, s.ACPID) },
		"old ones": func(ctx context.Context, r Removal, _ correlation.Session) error {
			_, err := r.Data.DB.ExecContext(ctx, `UPDATE debts SET done = 1`)
			return errorOr(err, r.Prune(ctx, correlation.PruneOptions{Before: time.Now().Add(time.Hour)}))
		},
		"a memory": func(ctx context.Context, r Removal, _ correlation.Session) error {
			all, err := r.Data.Memories.List(ctx, embedded.Filter{Limit: 100})
			check(t, err)
			i := slices.IndexFunc(all, func(m embedded.Memory) bool { return strings.Contains(m.Content, "Ines") })
			_, err = r.Memory(ctx, all[i].ID)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, d := t.Context(), opened(t)
			s := fill(t, d)
			before := rows(t, d.DB)
			check(t, remove(ctx, Removal{Data: d, Std: silent(), Yes: true}, s))
			if cmp.Equal(before, rows(t, d.DB)) {
				t.Fatal("nothing is gone")
			}
			info, err := os.Stat(runtime.UndoFile(d.Config))
			check(t, err)
			if info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
			check(t, Undo(ctx, d, silent()))
			after := rows(t, d.DB)
			if name == "old ones" {
				before["debts"] = after["debts"]
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
			found, err := d.Memories.Search(ctx, embedded.Query{Text: secret, Limit: 10, AllProjects: true})
			check(t, err)
			if len(found) < 2 {
				t.Errorf("%d are found", len(found))
			}
			if err := Undo(ctx, d, silent()); err == nil {
				t.Error("undone twice")
			}
			var wrong int
			check(t, d.DB.QueryRowContext(ctx, `SELECT count(*) FROM pragma_foreign_key_check`).Scan(&wrong))
			if wrong > 0 {
				t.Errorf("%d rows hang on nothing", wrong)
			}
		})
	}
}

func errorOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// What went for good is nowhere in the folder, and what else could have come back goes with it.
func TestForGood(t *testing.T) {
	ctx, d := t.Context(), opened(t)
	s := fill(t, d)
	r := Removal{Data: d, Std: silent(), Yes: true}
	all, err := d.Memories.List(ctx, embedded.Filter{Limit: 1})
	check(t, err)
	_, err = r.Memory(ctx, all[0].ID)
	check(t, err)
	r.ForGood = true
	check(t, os.WriteFile(migrations.CopyOf(d.Config.DB), []byte(secret), 0o600)) // from before an upgrade
	check(t, r.Session(ctx, s.ACPID))
	check(t, r.Session(ctx, "sess-that-was-forked"))
	left, err := d.Memories.List(ctx, embedded.Filter{Limit: 100})
	check(t, err)
	for _, m := range left {
		_, err := r.Memory(ctx, m.ID)
		check(t, err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(d.Config.DB), "*"))
	check(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err == nil && bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s still has it", name)
		}
	}
	if err := Undo(ctx, d, silent()); err == nil {
		t.Error("undone")
	}
}

// A session that was begun anew stands in the way, and stays.
func TestUndoInTheWay(t *testing.T) {
	ctx, d := t.Context(), opened(t)
	s := fill(t, d)
	check(t, Removal{Data: d, Std: silent()}.Session(ctx, s.ACPID))
	_, err := correlationtest.Session(ctx, d.Sessions, correlation.OpenSession{Harness: "echo", ACPID: s.ACPID, New: true})
	check(t, err)
	before := rows(t, d.DB)
	if err := Undo(ctx, d, silent()); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("undoing: %v", err)
	}
	if diff := cmp.Diff(before, rows(t, d.DB)); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
	check(t, Removal{Data: d, Std: silent()}.Session(ctx, s.ACPID)) // the last removal is this one now
	check(t, Undo(ctx, d, silent()))
	if diff := cmp.Diff(before, rows(t, d.DB)); diff != "" {
		t.Errorf("not undone:\n%s", diff)
	}
}

// After an hour it is gone, as soon as anything of ours looks; so is the copy from before an upgrade after a week.
func TestOldFilesGo(t *testing.T) {
	d := opened(t)
	s := fill(t, d)
	check(t, Removal{Data: d, Std: silent()}.Session(t.Context(), s.ACPID))
	undo, upgrade := runtime.UndoFile(d.Config), migrations.CopyOf(d.Config.DB)
	for _, tt := range []struct {
		name  string
		age   time.Duration
		stays bool
	}{
		{undo, time.Minute, true}, {undo, runtime.UndoTime, false}, {undo, -2 * time.Hour, false},
		{upgrade, 6 * 24 * time.Hour, true}, {upgrade, migrations.CopyTime, false},
	} {
		check(t, os.WriteFile(tt.name, nil, 0o600))
		at := time.Now().Add(-tt.age)
		check(t, os.Chtimes(tt.name, at, at))
		runtime.DropOutdated(d.Config, d.Log)
		if _, err := os.Stat(tt.name); (err == nil) != tt.stays {
			t.Errorf("%s after %v: %v", filepath.Base(tt.name), tt.age, err)
		}
	}
}

// What a person is told of each removal.
func TestSaid(t *testing.T) {
	const (
		what = "sess-that-went-on \"I prefer the spokeshave over the plane.\", 4 turns: this removes"
		too  = " learned from it; memories that you added are kept\n"
		undo = "signet-acp-proxy forget --undo restores it until 15:04\n"
	)
	for _, tt := range []struct {
		name   string
		remove func(context.Context, Removal) error
		want   string
	}{
		{"a conversation", func(ctx context.Context, r Removal) error { return r.Session(ctx, "sess-that-went-on") }, what + " 4 passages and 1 memory" + too + "forgotten: sess-that-went-on, 4 turns\n" + undo},
		{"for good", func(ctx context.Context, r Removal) error {
			r.ForGood = true
			return r.Session(ctx, "sess-that-went-on")
		}, what + " 4 passages and 1 memory" + too + "forgotten: sess-that-went-on, 4 turns\n"},
		{"by its beginning", func(ctx context.Context, r Removal) error {
			r.Yes = false
			return r.Session(ctx, "sess-that-went")
		}, what + " 4 passages and 1 memory" + too +
			"error: sess-that-went is a prefix of sess-that-went-on; type the whole id or pass --yes\n"},
		{"one that goes on", func(ctx context.Context, r Removal) error { return r.Session(ctx, "sess-live") }, "sess-live \"Go on.\", 1 turn: this removes 0 passages and 0 memories" + too + "forgotten: sess-live, 1 turn\n" +
			"an agent still has it open; its next turns will not be recorded\n" + undo},
		{"nothing is old", func(ctx context.Context, r Removal) error {
			return r.Prune(ctx, correlation.PruneOptions{Before: time.Now().Add(-time.Hour)})
		}, "nothing to remove; sessions in use or not yet delivered are kept\n"},
		{"what is old", func(ctx context.Context, r Removal) error {
			return r.Prune(ctx, correlation.PruneOptions{Before: time.Now().Add(time.Hour), DryRun: true})
		}, "this removes 12 passages and 3 memories" + too + "would remove 3 sessions, 6 turns; --yes does it\n"},
		{"old ones", func(ctx context.Context, r Removal) error {
			return r.Prune(ctx, correlation.PruneOptions{Before: time.Now().Add(time.Hour)})
		}, "this removes 12 passages and 3 memories" + too + "removed: 3 sessions, 6 turns\n" + undo},
		{"no import", func(ctx context.Context, r Removal) error { return r.Source(ctx, "backfill:codex") }, "0 conversations from backfill:codex\n"},
		{"an import, without --yes", func(ctx context.Context, r Removal) error {
			r.Yes = false
			return r.Source(ctx, "backfill:claude")
		}, "1 conversation from backfill:claude\nerror: to remove them, add --yes\n"},
		{"an import", func(ctx context.Context, r Removal) error { return r.Source(ctx, "backfill:claude") }, "1 conversation from backfill:claude\nforgotten: 1 conversation, 2 turns\n" + undo},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, d := t.Context(), opened(t)
			fill(t, d)
			p, err := d.Sessions.Register(ctx, correlation.ProcessInfo{Kind: correlation.Relay, Memory: "embedded"})
			check(t, err)
			live, err := correlationtest.Session(ctx, d.Sessions, correlation.OpenSession{Harness: "echo", ACPID: "sess-live",
				Process: p.ID()})
			check(t, err)
			check(t, correlationtest.Save(ctx, d.Sessions, []correlation.Turn{{Session: live.ID, Process: p.ID(), User: "Go on."}}))
			_, err = d.DB.ExecContext(ctx, `UPDATE debts SET done = 1;
				UPDATE sessions SET client = 'backfill:claude' WHERE acp_id = 'sess-that-was-forked'`)
			check(t, err)
			var said bytes.Buffer
			err = tt.remove(ctx, Removal{Data: d, Std: term.Streams{In: nil, Out: new(bytes.Buffer), Err: &said}, Yes: true})
			got := regexp.MustCompile(`until \d\d:\d\d`).ReplaceAllString(strings.ReplaceAll(said.String(), "signet-acp-proxy: ", ""),
				"until 15:04")
			if err != nil {
				got += "error: " + err.Error() + "\n"
			}
			if got != tt.want {
				t.Errorf("%s\nwant\n%s", got, tt.want)
			}
			check(t, p.End(ctx, "ended"))
		})
	}
}
