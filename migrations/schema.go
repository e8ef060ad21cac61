package migrations

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// An object of a schema, and the table that it belongs to.
type object struct{ kind, name, table, sql string }

// is reports whether two objects are the same but for white space: versions have indented one differently.
func (o object) is(p object) bool {
	o.sql, p.sql = strings.Join(strings.Fields(o.sql), ""), strings.Join(strings.Fields(p.sql), "")
	return o == p
}

// maxNamed is how many differences Check names.
const maxNamed = 4

// Check compares the schema of a database with what its migrations make: tables, columns, indexes and triggers. Tables
// of others beside ours are theirs. The error is sqlite.ErrSchema, and names what differs.
func Check(ctx context.Context, db *sql.DB) error {
	missing, err := Missing(ctx, db)
	if err != nil {
		return sqlite.Explain(err)
	}
	ours, err := newest()
	if err != nil {
		return err
	}
	wanted := ours
	if len(missing) > 0 {
		if wanted, err = model(missing); err != nil {
			return err
		}
	}
	there, err := objectsOf(ctx, db)
	if err != nil {
		return sqlite.Explain(err)
	}
	found := differences(there, wanted, ours)
	if len(found) == 0 {
		return nil
	}
	if more := len(found) - maxNamed; more > 0 {
		found = append(found[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w (%s)", sqlite.ErrSchema, strings.Join(found, ", "))
}

// newest returns the schema of this version, which takes 30 ms to make.
var newest = sync.OnceValues(func() ([]object, error) { return model(nil) })

// model returns the schema that all migrations make but some, in a database in memory.
func model(without []string) ([]object, error) {
	ctx := context.Background()
	db, err := sql.Open(DriverName, ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(without, name) })
	if err := applyAll(ctx, db, files, names); err != nil {
		return nil, fmt.Errorf("making the schema in memory: %w", err)
	}
	return objectsOf(ctx, db)
}

// differences says how a schema differs from what is wanted. all is what this version makes at last: nothing else may
// have these names.
func differences(there, wanted, all []object) (found []string) {
	have, want, ours := byName(there), byName(wanted), byName(all)
	for _, o := range wanted {
		switch got, ok := have[o.name]; {
		case !ok:
			found = append(found, o.kind+" "+o.name+" is missing")
		case !got.is(o):
			found = append(found, got.kind+" "+o.name+" is not as we make it")
		}
	}
	for _, o := range there {
		_, known := want[o.name]
		_, named := ours[o.name]
		_, onOurs := want[o.table]
		if !known && (named || onOurs) {
			found = append(found, o.kind+" "+o.name+" is not ours")
		}
	}
	return found
}

// objectsOf lists a schema but for what SQLite makes by itself, in the order in which it was made.
func objectsOf(ctx context.Context, db *sql.DB) ([]object, error) {
	return sqlite.Collect(ctx, db, func(row sqlite.Row) (o object, err error) {
		return o, row.Scan(&o.kind, &o.name, &o.table, &o.sql)
	}, `SELECT type, name, tbl_name, sql FROM sqlite_schema
		WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
}

func byName(objects []object) map[string]object {
	m := make(map[string]object, len(objects))
	for _, o := range objects {
		m[o.name] = o
	}
	return m
}

// drop removes the object; one that went with its table is no error.
func (o object) drop(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "DROP "+o.kind+` IF EXISTS "`+strings.ReplaceAll(o.name, `"`, `""`)+`"`)
	return err
}
