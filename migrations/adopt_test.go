package migrations

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// A database that somebody else has made brings rows, and nothing that runs.
func TestAdopt(t *testing.T) {
	const row = `INSERT INTO noted (kind, name, at) VALUES ('told', 'kept', 1)`
	for _, tt := range []struct {
		name    string
		theirs  []string
		foreign bool
		empty   bool   // the table with the row is made anew
		differs string // what Check names
	}{
		{"as it should be", nil, false, false, ""},
		{"a trigger", []string{`CREATE TRIGGER evil AFTER INSERT ON migrations BEGIN DELETE FROM noted; END`}, false, false, "trigger evil is not ours"},
		{"a trigger of our name", []string{`DROP TRIGGER memories_gone`,
			`CREATE TRIGGER memories_gone AFTER UPDATE ON noted BEGIN DELETE FROM noted; END`}, false, false, "trigger memories_gone is not as we make it"},
		{"a trigger of ours is missing", []string{`DROP TRIGGER memories_gone`}, false, false, "trigger memories_gone is missing"},
		{"a view", []string{`CREATE VIEW evil AS SELECT * FROM noted`}, false, false, ""},
		{"a table", []string{`CREATE TABLE "their ""own""" (x)`, `CREATE INDEX theirs ON "their ""own""" (x)`}, false, false, ""},
		{"an index on ours", []string{`CREATE INDEX theirs ON noted (lower(name))`}, false, false, "index theirs is not ours"},
		{"an index of ours is missing", []string{`DROP INDEX sessions_key`}, false, false, "index sessions_key is missing"},
		{"a column", []string{`ALTER TABLE noted ADD COLUMN evil TEXT AS (name)`}, true, false, "table noted is not as we make it"},
		{"a view for a table", []string{`ALTER TABLE noted RENAME TO n`,
			`CREATE VIEW noted AS SELECT * FROM n`}, false, true, "view noted is not as we make it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			db := must(Open(t.Context(), path))
			wanted := must(objectsOf(t.Context(), db))
			for _, statement := range append(tt.theirs, row) {
				if _, err := db.Exec(statement); err != nil && statement != row {
					t.Fatalf("%s: %v", statement, err)
				}
			}
			if err := Check(t.Context(), db); tt.differs == "" && err != nil || tt.differs != "" &&
				(!errors.Is(err, sqlite.ErrSchema) || !strings.HasSuffix(err.Error(), "("+tt.differs+")")) {
				t.Errorf("Check: %v", err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			err := Adopt(t.Context(), path)
			if tt.foreign {
				if !errors.Is(err, ErrForeign) {
					t.Errorf("adopted: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			db = must(Open(t.Context(), path))
			defer db.Close()
			if got := byName(must(objectsOf(t.Context(), db))); !same(got, byName(wanted)) {
				t.Errorf("the schema is %v", got)
			}
			if count(t, db, "SELECT count(*) FROM noted") == 0 != tt.empty {
				t.Error("the row is not as it was")
			}
		})
	}
}

func same(a, b map[string]object) bool {
	for name, o := range a {
		if b[name] != o {
			return false
		}
	}
	return len(a) == len(b)
}

func count(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
