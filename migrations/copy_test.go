package migrations_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/Signet-AI/signet-acp-proxy/migrations"
	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Before tables are dropped a copy is kept, once, whoever opens the database and whoever has died of it before. Without
// a copy nothing is dropped.
func TestCopyBeforeUpgrade(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(path string) error
		copied  bool
		fails   bool
	}{
		{"a database of an earlier version", func(string) error { return nil }, true, false},
		{"a part of a copy is there", func(path string) error {
			return os.WriteFile(migrations.CopyOf(path)+"-part", []byte("SQLite"), 0o600)
		}, true, false},
		{"a new database", os.Remove, false, false},
		{"one that is too large", func(path string) error { return os.Truncate(path, migrations.MaxCopied+1) }, false, false},
		{"no copy can be made", func(path string) error {
			return os.MkdirAll(filepath.Join(migrations.CopyOf(path)+"-part", "full"), 0o700)
		}, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			if err := errors.Join(os.WriteFile(path, released(t)["0003"], 0o600), tt.prepare(path)); err != nil {
				t.Fatal(err)
			}
			var opening sync.WaitGroup
			for range 3 {
				opening.Go(func() {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					db, err := migrations.Open(ctx, path)
					if err == nil {
						err = db.Close()
					}
					if (err != nil) != tt.fails {
						t.Errorf("opened: %v", err)
					}
				})
			}
			opening.Wait()
			info, err := os.Stat(migrations.CopyOf(path))
			if tt.copied != (err == nil) || tt.copied && info.Mode().Perm() != 0o600 {
				t.Fatalf("the copy: %v, %v", info, err)
			}
			of := path
			if tt.copied {
				of = migrations.CopyOf(path)
			}
			db, err := migrations.Look(of)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			missing, err := migrations.Missing(t.Context(), db)
			if err != nil || slices.Contains(missing, "0022_fewer_tables.sql") != (tt.copied || tt.fails) {
				t.Errorf("%s lacks %v, %v", of, missing, err)
			}
			if tt.copied {
				original := filepath.Join(t.TempDir(), "x.db")
				if err := os.WriteFile(original, released(t)["0003"], 0o600); err != nil {
					t.Fatal(err)
				}
				was, err := migrations.Look(original)
				if err != nil {
					t.Fatal(err)
				}
				defer was.Close()
				if diff := cmp.Diff(contents(t, was), contents(t, db)); diff != "" {
					t.Errorf("(-was +copy)\n%s", diff)
				}
			}
			for _, name := range []string{"-part", "-part-journal"} {
				if _, err := os.Stat(migrations.CopyOf(path) + name); !errors.Is(err, fs.ErrNotExist) && !tt.fails {
					t.Errorf("%s is left: %v", name, err)
				}
			}
		})
	}
}

// A program of an earlier version that runs while another one upgrades the database cannot write there any more, is told
// so, and does no harm: what it hears is in its file of events.
func TestUpgradeUnderAnOlderProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	older := fstest.MapFS{}
	names, err := fs.Glob(migrations.Schema, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name >= "0022" {
			continue
		}
		script, err := fs.ReadFile(migrations.Schema, name)
		if err != nil {
			t.Fatal(err)
		}
		older[name] = &fstest.MapFile{Data: script}
	}
	running, err := migrations.OpenWith(t.Context(), path, older)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	write := `INSERT INTO notices (name, at) VALUES ('recording', 1)`
	if _, err := running.Exec(write); err != nil {
		t.Fatal(err)
	}
	db, err := migrations.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := running.Exec(write); !errors.Is(sqlite.Explain(err), sqlite.ErrSchema) {
		t.Errorf("the older program: %v", err)
	}
	if err := migrations.Check(t.Context(), db); err != nil {
		t.Error(err)
	}
}
