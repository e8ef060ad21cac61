package migrations

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

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
