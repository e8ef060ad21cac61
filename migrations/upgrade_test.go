package migrations_test

import (
	"compress/gzip"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/delegation"
	"github.com/Signet-AI/signet-acp-proxy/memory/embedded"
	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Each file of testdata/released is a database that a released program has made, up to the schema file that it is
// named by: three turns in two sessions, a memory that a person added, and what was learned. A release whose schema
// is new adds one.
func released(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/released/*.db.gz")
	if err != nil || len(names) == 0 {
		t.Fatalf("no databases: %v", err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if all[strings.TrimSuffix(filepath.Base(name), ".db.gz")], err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Whatever a program has stored is there after it was brought up to date, and is found.
func TestUpgrade(t *testing.T) {
	for name, text := range released(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			before, err := migrations.Look(path)
			if err != nil {
				t.Fatal(err)
			}
			said := stored(t, before)
			if err := before.Close(); err != nil {
				t.Fatal(err)
			}
			upgraded(t, path, said)
			upgraded(t, path, said) // and the second time there is nothing to do
		})
	}
}

// And so it is from each schema on the way, which a build between two releases has left.
func TestUpgradeFromEachSchema(t *testing.T) {
	names, err := fs.Glob(migrations.Schema, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range released(t) {
		for _, last := range names {
			if last[:len(name)] <= name {
				continue
			}
			t.Run(name+" by "+last, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "sessions.db")
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
				db, err := migrations.OpenWith(t.Context(), path, before(t, last+"\x00"))
				if err != nil {
					t.Fatal(err)
				}
				fillEach(t, db)
				said, before := stored(t, db), contents(t, db)
				backup := filepath.Join(t.TempDir(), "backup.db")
				if err := errors.Join(migrations.Copy(t.Context(), db, backup), db.Close()); err != nil {
					t.Fatal(err)
				}
				db, err = migrations.Open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				carried(t, before, contents(t, db), db)
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				upgraded(t, path, said)
				if err := migrations.Adopt(t.Context(), backup); err != nil {
					t.Fatal(err)
				}
				upgraded(t, backup, said)
			})
		}
	}
}

// A delegation of before its columns became JSON is read as it was.
func TestUpgradeDelegations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	db, err := migrations.OpenWith(t.Context(), path, before(t, "0022"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `INSERT INTO delegations (id, caller, process, harness, turn, parent, root,
		depth, key, agent, mode, kind, cwd, project, detach, budget, state, cancel, acp_id, folder, branch, progress,
		stop, reason, turns, tokens, cost, currency, paths, refused, verdict, note, created, started, ended, scope,
		kept, task, answer, continues, tree) VALUES ('01K', 'acp-1', 'p', 'claude', 7, '01J', 'acp-0', 2, 'k', 'codex',
		'edit', 'review', '/src', '/src/a', 1, '{"turns":9}', 'stopped', 'why', 'child', '/folder', 'signet/01K',
		'looks', 'end_turn', 'its budget', 3, 12, 0.5, 'USD', '["a.go"]', '["b: no"]', -1, 'late', 1, 2, 3, 'a; b',
		'c', 'Look.', 'Two.', '01H', '/tree')`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = migrations.Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := delegation.NewLedger(db, t.TempDir(), t.TempDir()).List(t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	tokens, cost, verdict := int64(12), 0.5, -1.0
	want := delegation.Delegation{ID: "01K", Root: "acp-0", Depth: 2, State: delegation.Stopped, Cancel: "why",
		Caller: delegation.Caller{Key: "acp-1", Process: "p", Harness: "claude", Turn: 7, Cwd: "/src",
			Project: "/src/a", Inside: "01J"},
		Request: delegation.Request{Agent: "codex", Kind: "review", Task: "Look.", Scope: "a; b", Kept: "c",
			Mode: delegation.Edit, Budget: delegation.Budget{Turns: 9}, Detach: true, Continues: "01H"},
		Run: delegation.Run{ACPID: "child", Folder: "/folder", Tree: "/tree", Progress: "looks",
			Usage: delegation.Usage{Turns: 3, Tokens: &tokens, Cost: &cost, Currency: "USD"}},
		Result: delegation.Result{Stop: "end_turn", Reason: "its budget", Answer: "Two.", Branch: "signet/01K",
			Paths: []string{"a.go"}, Refused: []string{"b: no"}, Verdict: &verdict, Note: "late"},
		Created: time.UnixMilli(1), Started: time.UnixMilli(2), Ended: time.UnixMilli(3)}
	if diff := cmp.Diff([]delegation.Delegation{want}, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Who said a memory of before that was kept is told from the side that spoke and how it came.
func TestUpgradeWho(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	db, err := migrations.OpenWith(t.Context(), path, before(t, "0023"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"user memory add": "typed", "user turn": "typed", "assistant memory pin": "pin",
		"child memory_store": "child", "import import": "imported", "user memory_store": "tool",
		"assistant memory_store": "tool", "assistant delegation": "agent", "user memory_modify": "tool"}
	for name := range want {
		origin, source, _ := strings.Cut(name, " ")
		if _, err := db.ExecContext(t.Context(), `INSERT INTO memories (uid, type, origin, source, created, updated,
			digest, content) VALUES (?1, 'fact', ?2, ?3, 1, 1, ?1, ?1)`, name, origin, source); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = migrations.Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	got, err := sqlite.Pairs[string, string](t.Context(), db, `SELECT uid, who FROM memories WHERE announced = 1`)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// before returns the files of the schema that come before a number.
func before(t *testing.T, number string) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(migrations.Schema, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	older := fstest.MapFS{}
	for _, name := range names {
		script, err := fs.ReadFile(migrations.Schema, name)
		if err != nil {
			t.Fatal(err)
		}
		if name < number {
			older[name] = &fstest.MapFile{Data: script}
		}
	}
	return older
}

// A build without full-text search, of which there are none any more, left the file that makes the index to the next
// one.
func TestUpgradeWithoutIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	if err := os.WriteFile(path, released(t)["0003"], 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(migrations.DriverName, "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`DROP TABLE memories_terms; DROP TABLE memories_fts;
		DELETE FROM migrations WHERE name = '0003_memories_fts5.sql';
		INSERT OR IGNORE INTO memories_stale SELECT id FROM memories`) // of that version
	said := stored(t, db)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	upgraded(t, path, said)
}

// stored is what must never be lost.
func stored(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	for _, query := range []string{
		`SELECT acp_id || ' ' || harness || ' ' || state || ' ' || cwd FROM sessions ORDER BY id`,
		`SELECT user || ' / ' || assistant || ' ' || started FROM turns ORDER BY id`,
		`SELECT text || ' ' || outcome FROM injections ORDER BY id`,
		`SELECT content || ' ' || type || ' ' || tags || ' ' || created FROM memories WHERE turn IS NULL ORDER BY id`,
	} {
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		n := len(all)
		for rows.Next() {
			var row string
			if err := rows.Scan(&row); err != nil {
				t.Fatal(err)
			}
			all = append(all, row)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if len(all) == n {
			t.Fatalf("nothing is stored for %s", query)
		}
	}
	return all
}

// upgraded opens a database as a program does and looks whether all is there.
func upgraded(t *testing.T, path string, said []string) {
	t.Helper()
	db, err := migrations.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if diff := cmp.Diff(said, stored(t, db)); diff != "" {
		t.Errorf("what was stored (-before +after):\n%s", diff)
	}
	if err := migrations.Check(t.Context(), db); err != nil {
		t.Error(err)
	}
	for _, check := range []string{"integrity_check", "foreign_key_check"} {
		var wrong string
		if err := db.QueryRowContext(t.Context(), "PRAGMA "+check).Scan(&wrong); err == nil && wrong != "ok" {
			t.Errorf("%s: %s", check, wrong)
		} else if err != nil && !errors.Is(err, sql.ErrNoRows) {
			t.Error(err)
		}
	}
	store := embedded.New(db, embedded.Options{})
	for range 3 { // one leaves what takes longer than two seconds to the next
		if err := store.Learn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for question, want := range map[string]string{"mast of the Curlew": "11.42 metres", "spokeshave": "Ines prefers"} {
		found, err := store.Search(t.Context(), embedded.Query{Text: question, Limit: 3, AllProjects: true})
		if err != nil {
			t.Fatal(err)
		}
		hit := false
		for _, m := range found {
			hit = hit || strings.Contains(m.Content, want)
		}
		if !hit {
			t.Errorf("%q finds %d memories, none with %q", question, len(found), want)
		}
	}
}
