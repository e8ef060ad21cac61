package migrations

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mustOpen(tb testing.TB, path string, schema fs.FS) *sql.DB {
	tb.Helper()
	db, err := open(tb.Context(), path, schema)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { mustClose(tb, db) })
	return db
}

func mustClose(tb testing.TB, db *sql.DB) {
	tb.Helper()
	if err := db.Close(); err != nil {
		tb.Error(err)
	}
}

func mustExec(tb testing.TB, db *sql.DB, query string, args ...any) {
	tb.Helper()
	if _, err := db.ExecContext(tb.Context(), query, args...); err != nil {
		tb.Fatal(err)
	}
}

func pragma(tb testing.TB, db *sql.DB, name string) (value string) {
	tb.Helper()
	if err := db.QueryRowContext(tb.Context(), "PRAGMA "+name).Scan(&value); err != nil {
		tb.Fatal(err)
	}
	return value
}

func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b%20?c#d", "acp")
	path := filepath.Join(dir, "sessions.db")
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, db)
	if n := db.Stats().MaxOpenConnections; n != 1 {
		t.Errorf("it may have %d connections", n)
	}
	for name, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1", "secure_delete": "1", "integrity_check": "ok",
	} {
		if got := pragma(t, db, name); got != want {
			t.Errorf("PRAGMA %s = %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]fs.FileMode{dir: 0o700, path: 0o600, path + "-wal": 0o600,
		path + "-shm": 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", filepath.Base(name), got, want)
		}
	}
}

func TestOpenRepairsModes(t *testing.T) {
	for _, tt := range []struct {
		name, dir string
		want      fs.FileMode // of the folders
		wantFile  fs.FileMode // of what is not the database's
	}{
		{"our folder", "acp", 0o700, 0o600},
		{"somebody's folder", "work", 0o755, 0o644},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), tt.dir)
			path := filepath.Join(dir, "sessions.db")
			mustOpen(t, path, files)
			logs := filepath.Join(dir, "log")
			log := filepath.Join(logs, "proxy.log")
			if err := errors.Join(os.Mkdir(logs, 0o755), os.WriteFile(log, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
			for name, mode := range map[string]fs.FileMode{
				dir: 0o755, logs: 0o755, path: 0o644, path + "-wal": 0o644, path + "-shm": 0o644, log: 0o644,
			} {
				if err := os.Chmod(name, mode); err != nil {
					t.Fatal(err)
				}
			}
			mustOpen(t, path, files)
			for name, want := range map[string]fs.FileMode{
				dir: tt.want, logs: tt.want, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, log: tt.wantFile,
			} {
				info, err := os.Stat(name)
				if err != nil {
					t.Fatal(err)
				}
				if got := info.Mode().Perm(); got != want {
					t.Errorf("%s has mode %o, want %o", name, got, want)
				}
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func schemaOf(files map[string]string) fstest.MapFS {
	m := make(fstest.MapFS)
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func appliedNames(tb testing.TB, db *sql.DB) map[string]bool {
	tb.Helper()
	names, err := appliedTo(tb.Context(), db)
	if err != nil {
		tb.Fatal(err)
	}
	return names
}

func TestApplyOnlyWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	one := map[string]string{"0001_a.sql": "CREATE TABLE a (x); INSERT INTO a VALUES (1)", "notes.txt": "not SQL"}
	mustClose(t, must(open(t.Context(), path, schemaOf(one))))

	two := map[string]string{"0001_a.sql": one["0001_a.sql"],
		"0002_b.sql": "CREATE TABLE b (x); UPDATE a SET x = x + 1"}
	for range 2 {
		db := must(open(t.Context(), path, schemaOf(two)))
		var x int
		if err := db.QueryRowContext(t.Context(), "SELECT x FROM a").Scan(&x); err != nil || x != 2 {
			t.Fatalf("x = %d, %v; each file must be applied once", x, err)
		}
		mustClose(t, db)
	}
	_, err := open(t.Context(), path, schemaOf(one))
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "0002_b.sql") {
		t.Errorf("a newer schema: %v", err)
	}
}

func TestApplyIsAllOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	good := map[string]string{"0001_a.sql": "CREATE TABLE a (x)"}
	bad := map[string]string{"0001_a.sql": good["0001_a.sql"],
		"0002_b.sql": "CREATE TABLE b (x); INSERT INTO nowhere VALUES (1)"}
	if _, err := open(t.Context(), path, schemaOf(bad)); err == nil || !strings.Contains(err.Error(), "0002_b.sql") {
		t.Fatalf("err = %v, want one that names the file", err)
	}
	db := mustOpen(t, path, schemaOf(good))
	if diff := cmp.Diff(map[string]bool{"0001_a.sql": true}, appliedNames(t, db)); diff != "" {
		t.Error(diff)
	}
}

// Older builds without full-text search left out the files that need it, whatever came after them. They are applied
// now.
func TestApplyWhatWasLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	before := map[string]string{"0001_a.sql": "CREATE TABLE a (x)", "0003_b.sql": "CREATE TABLE b (x)"}
	mustClose(t, must(open(t.Context(), path, schemaOf(before))))
	all := map[string]string{"0002_a_fts5.sql": "CREATE VIRTUAL TABLE f USING fts5 (x)"}
	maps.Copy(all, before)
	db := mustOpen(t, path, schemaOf(all))
	if diff := cmp.Diff(map[string]bool{"0001_a.sql": true, "0002_a_fts5.sql": true, "0003_b.sql": true},
		appliedNames(t, db)); diff != "" {
		t.Fatal(diff)
	}
	mustExec(t, db, "INSERT INTO f VALUES ('later')")
}

func TestOpenByManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acp", "sessions.db")
	var wg sync.WaitGroup
	dbs, errs := make([]*sql.DB, 8), make([]error, 8)
	for i := range dbs {
		wg.Go(func() { dbs[i], errs[i] = Open(context.Background(), path) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("opener %d: %v", i, err)
			continue
		}
		mustClose(t, dbs[i])
	}
}

func TestOpenErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		want    error
	}{
		{"garbage", func(t *testing.T, path string) {
			write(t, path, strings.Repeat("no database ", 1000))
		}, sqlite.ErrCorrupt},
		{"cut off", func(t *testing.T, path string) {
			mustClose(t, must(open(t.Context(), path, files)))
			if err := os.Truncate(path, 8192); err != nil {
				t.Fatal(err)
			}
		}, sqlite.ErrCorrupt},
		{"a folder", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, sqlite.ErrReadOnly},
		{"the folder is a file", func(t *testing.T, path string) {
			if err := os.Remove(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Dir(path), "")
		}, nil},
		{"not to be written", func(t *testing.T, path string) {
			if os.Geteuid() == 0 {
				t.Skip("root may write anything")
			}
			mustClose(t, must(open(t.Context(), path, files)))
			if err := os.Chmod(path, 0o400); err != nil {
				t.Fatal(err)
			}
		}, sqlite.ErrReadOnly},
		{"being made by another process", func(t *testing.T, path string) {
			db := mustOpen(t, path, fstest.MapFS{})
			mustExec(t, db, "CREATE TABLE sessions (id)") // as far as it has come
			tx := must(db.BeginTx(t.Context(), nil))
			t.Cleanup(func() { _ = tx.Rollback() })
		}, sqlite.ErrBusy},
		{"held exclusively", func(t *testing.T, path string) {
			db := mustOpen(t, path, files)
			mustExec(t, db, "PRAGMA journal_mode = DELETE")
			mustExec(t, db, "PRAGMA locking_mode = EXCLUSIVE")
			mustExec(t, db, "UPDATE migrations SET applied = 1")
		}, sqlite.ErrBusy},
		{"newer", func(t *testing.T, path string) {
			db := mustOpen(t, path, files)
			mustExec(t, db, "INSERT INTO migrations VALUES ('9999_future.sql', 0)")
		}, ErrNewer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sub", "sessions.db")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			tt.prepare(t, path)
			db, err := Open(sqlite.WithLockWait(t.Context(), 0), path)
			if err == nil {
				mustClose(t, db)
				t.Fatal("opened")
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("err = %v, want %v", err, tt.want)
			}
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
				t.Errorf("err = %q, want one line that names the file", err)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "acp", "sessions.db")
	keep, err := Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer mustClose(b, keep)
	for b.Loop() {
		db, err := Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		mustClose(b, db)
	}
}
