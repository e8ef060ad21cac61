package migrations

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

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
			mustClose(t, must(open(t.Context(), path, files)))
			logs := filepath.Join(dir, "log")
			log := filepath.Join(logs, "proxy.log")
			if err := errors.Join(os.Mkdir(logs, 0o755), os.WriteFile(log, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
			for name, mode := range map[string]fs.FileMode{dir: 0o755, logs: 0o755, path: 0o644, log: 0o644} {
				if err := os.Chmod(name, mode); err != nil {
					t.Fatal(err)
				}
			}
			mustOpen(t, path, files)
			for name, want := range map[string]fs.FileMode{dir: tt.want, logs: tt.want, path: 0o600, log: tt.wantFile} {
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
	limited := func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
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
			db, err := Open(limited(t), path)
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

// A waiting statement gives up when its context does, not after the driver's busy timeout; and one whose context sets
// no limit is patient.
func TestWaitingEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	schema := schemaOf(map[string]string{"0001_a.sql": "CREATE TABLE a (x)"})
	one, two := mustOpen(t, path, schema), mustOpen(t, path, schema)
	tx := must(one.BeginTx(t.Context(), nil))

	gaveUp := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		other, err := two.BeginTx(ctx, nil)
		if err == nil {
			_ = other.Rollback()
		}
		gaveUp <- err
	}()
	select {
	case err := <-gaveUp:
		if err == nil {
			t.Fatal("began a transaction beside another")
		}
	case <-time.After(defaultBusyTimeout / 2):
		t.Error("a context of 30 ms did not end the wait")
		<-gaveUp
	}

	waited := make(chan error, 1)
	go func() {
		_, err := two.ExecContext(context.Background(), "INSERT INTO a VALUES (1)")
		waited <- err
	}()
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

// What the code relies on and the two drivers could do differently.
func TestDriversAreAlike(t *testing.T) {
	db := mustOpen(t, filepath.Join(t.TempDir(), "x.db"),
		schemaOf(map[string]string{"0001_a.sql": "CREATE TABLE a (x)"}))
	long := strings.Repeat("é\x00", 1<<16)
	for _, tt := range []struct {
		name string
		in   any
		want any
	}{
		{"NULL", nil, nil},
		{"no bytes", []byte(nil), nil},
		{"an empty BLOB", []byte{}, []byte{}},
		{"a BLOB", []byte("a\x00b"), []byte("a\x00b")},
		{"an empty text", "", ""},
		{"a text with NUL", long, long},
		{"a text that is not UTF-8", "\xff\xfe", "\xff\xfe"},
		{"true", true, int64(1)},
		{"a large number", int64(1) << 62, int64(1) << 62},
		{"a fraction", 0.1, 0.1},
	} {
		var got any
		if err := db.QueryRowContext(t.Context(), "SELECT ?", tt.in).Scan(&got); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	var text []byte
	if err := db.QueryRowContext(t.Context(), "INSERT INTO a VALUES (?) RETURNING x", "é").Scan(&text); err != nil ||
		string(text) != "é" {
		t.Errorf("RETURNING gives %q, %v", text, err)
	}
	r, err := db.ExecContext(t.Context(), "UPDATE a SET x = 1")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RowsAffected(); n != 1 || err != nil {
		t.Errorf("%d rows affected, %v", n, err)
	}
	var version string
	if err := db.QueryRowContext(t.Context(), "SELECT sqlite_version()").Scan(&version); err != nil ||
		!strings.HasPrefix(version, "3.") {
		t.Errorf("version %q, %v", version, err)
	}
	t.Logf("%s: SQLite %s", DriverName, version)
}

// A transaction that ended, however it did, leaves the connection as it was: the next one begins, and waits no longer
// than it may.
func TestConnectionAfterTransactions(t *testing.T) {
	db := mustOpen(t, filepath.Join(t.TempDir(), "x.db"),
		schemaOf(map[string]string{"0001_a.sql": "CREATE TABLE a (x UNIQUE); INSERT INTO a VALUES (0)"}))
	for _, end := range []func(*sql.Tx, context.CancelFunc) error{
		func(tx *sql.Tx, _ context.CancelFunc) error { return tx.Commit() },
		func(tx *sql.Tx, _ context.CancelFunc) error { return tx.Rollback() },
		func(tx *sql.Tx, _ context.CancelFunc) error {
			if _, err := tx.Exec("INSERT INTO a VALUES (0)"); err == nil {
				return errors.New("took it twice")
			}
			return tx.Rollback()
		},
		func(tx *sql.Tx, cancel context.CancelFunc) error {
			cancel()
			if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) && !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		tx := must(db.BeginTx(ctx, nil))
		if err := end(tx, cancel); err != nil {
			t.Fatal(err)
		}
		cancel()
		limited, stop := context.WithTimeout(t.Context(), time.Second)
		if _, err := db.ExecContext(limited, "UPDATE a SET x = x"); err != nil {
			t.Error(err)
		}
		if ms, err := strconv.Atoi(pragma(t, db, "busy_timeout")); err != nil ||
			ms != int(defaultBusyTimeout.Milliseconds()) {
			t.Errorf("without a limit the busy timeout is %d ms, %v", ms, err)
		}
		stop()
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

// Who looks sees what was committed, and leaves the folder as it was.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a?b.db")
	if _, err := Look(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Look at nothing: %v", err)
	}
	names := func() (all []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	look := func(want int) {
		t.Helper()
		before := names()
		db, err := Look(path)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&n); err != nil || n != want {
			t.Errorf("it sees %d, %v, want %d", n, err, want)
		}
		if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err == nil {
			t.Error("it can write")
		}
		mustClose(t, db)
		if diff := cmp.Diff(before, names()); diff != "" {
			t.Errorf("(-before +after)\n%s", diff)
		}
	}
	db, err := open(t.Context(), path, fstest.MapFS{"0001.sql": {Data: []byte("CREATE TABLE t (x)")}})
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, db, "INSERT INTO t VALUES (1)")
	look(1)
	mustClose(t, db)
	look(1)
	db = mustOpen(t, path, fstest.MapFS{"0001.sql": {Data: []byte("CREATE TABLE t (x)")}})
	mustExec(t, db, "INSERT INTO t VALUES (2)")
	look(2)
}

// What is missing of a schema is told without applying it; one that we do not know is said to be newer.
func TestMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, db)
	missing := func() []string {
		t.Helper()
		look, err := Look(path)
		if err != nil {
			t.Fatal(err)
		}
		defer mustClose(t, look)
		names, err := Missing(t.Context(), look)
		if err != nil && !errors.Is(err, ErrNewer) {
			t.Fatal(err)
		}
		if err != nil {
			names = []string{"newer"}
		}
		return names
	}
	if got := missing(); len(got) != 0 {
		t.Errorf("a new database lacks %v", got)
	}
	const last = "0002_memories.sql"
	if _, err := db.ExecContext(t.Context(), "DELETE FROM migrations WHERE name = ?", last); err != nil {
		t.Fatal(err)
	}
	if got := missing(); !slices.Equal(got, []string{last}) {
		t.Errorf("without one file it lacks %v", got)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO migrations VALUES ('9999_later.sql', 1)"); err != nil {
		t.Fatal(err)
	}
	if got := missing(); !slices.Equal(got, []string{"newer"}) {
		t.Errorf("with a file of a later version: %v", got)
	}
}
