// Package migrations opens the database file and brings its schema up to date. It is the only package that links
// SQLite: mattn/go-sqlite3 with cgo and the tag sqlite_fts5 (make, releases), otherwise modernc.org/sqlite, the same
// program translated to Go. Both write the same file format.
//
// The schema is the numbered .sql files of this folder. They are applied in the order of their names, each in a
// transaction, and recorded by name. A file that was released is never changed.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// ErrNewer is an error of Open, like ErrNetworkFS and those of package sqlite (ErrReadOnly, ErrBusy, ErrFull,
// ErrCorrupt, ErrDisk).
var ErrNewer = errors.New("written by a newer version: update signet-acp-proxy")

//go:embed *.sql
var files embed.FS

// Open opens the database at path. It makes the file (0600) and its folder (0700) if they are missing, removes the
// permissions of others from the files and from a folder named acp, and applies what is missing of the schema. It waits
// for another process's lock until ctx ends, and 5 s at most. The database has one connection. Write in transactions
// (BEGIN IMMEDIATE); the deadlines of their contexts are kept. If the file is removed or replaced meanwhile, the next
// statement goes to the one at its path, which is begun if it is missing. Open does not search for damage, which may be
// found only when a damaged page is read. The caller closes the database.
func Open(ctx context.Context, path string) (*sql.DB, error) {
	db, err := open(ctx, path, files)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, sqlite.Explain(err))
	}
	return db, nil
}

// Again opens another connection to a database that Open has opened just now. It reads the schema, which takes longer
// than most transactions: others would wait for that. Its commits make no checkpoints, which sync the disk: whoever
// uses it makes them beside (correlation.Store.Settle).
func Again(ctx context.Context, path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f := fileOf(path, files)
	f.Quiet = true
	db := f.Open()
	if _, err := appliedTo(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, sqlite.Explain(err)), db.Close())
	}
	return db, nil
}

// fileOf is a database that has a schema, whatever file is at the path.
func fileOf(path string, schema fs.FS) sqlite.File {
	return sqlite.File{Engine: engine, Path: path, Anew: func(ctx context.Context) error {
		db, err := open(ctx, path, schema)
		if err != nil {
			return err
		}
		return db.Close()
	}}
}

// Look opens the database at path for reading, and leaves no trace: no file is made, nothing is written and no schema
// applied, so tables and columns of newer migrations may be missing. The error is fs.ErrNotExist (errors.Is) if there
// is no database. The caller closes the database.
func Look(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(path + "-wal")
	return sqlite.File{Engine: engine, Path: path, Reads: true, Alone: err != nil}.Open(), nil
}

func open(ctx context.Context, path string, schema fs.FS) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := secure(path); err != nil {
		return nil, err
	}
	db := fileOf(path, schema).Open()
	if err := update(ctx, db, path, schema); err != nil {
		err = sqlite.Explain(err)
		if !errors.Is(err, sqlite.ErrBusy) { // else another process may be making its tables
			if broken := Check(ctx, db); errors.Is(broken, sqlite.ErrSchema) {
				err = fmt.Errorf("%w: %w", broken, err)
			}
		}
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// update runs the files of schema that the database does not have yet. A copy is kept at path's CopyOf, unless path is
// empty.
func update(ctx context.Context, db *sql.DB, path string, schema fs.FS) error {
	names, err := missing(ctx, db, schema)
	if err == nil && path != "" {
		err = keepCopy(ctx, db, path, names)
	}
	if err != nil {
		return err
	}
	return applyAll(ctx, db, schema, names)
}

func applyAll(ctx context.Context, db *sql.DB, schema fs.FS, names []string) error {
	for _, name := range names {
		script, err := fs.ReadFile(schema, name)
		if err != nil {
			return err
		}
		if err := applyFile(ctx, db, name, string(script)); err != nil {
			return fmt.Errorf("applying %s: %w", name, err)
		}
	}
	return nil
}

// Missing returns the names of the schema's files that Open would apply to a database. It changes nothing. The error is
// ErrNewer if the database has files that this version does not know.
func Missing(ctx context.Context, db *sql.DB) ([]string, error) { return missing(ctx, db, files) }

func missing(ctx context.Context, db *sql.DB, schema fs.FS) ([]string, error) {
	names, err := fs.Glob(schema, "*.sql") // in lexical order
	if err != nil {
		return nil, err
	}
	applied, err := appliedTo(ctx, db)
	if err != nil {
		return nil, err
	}
	for name := range applied {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%w (it has %s)", ErrNewer, name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return applied[name] }), nil
}

// appliedTo returns the names of the files that were applied to the database, none for a new one.
func appliedTo(ctx context.Context, db *sql.DB) (map[string]bool, error) {
	var n int
	err := db.QueryRowContext(ctx,
		"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").Scan(&n)
	if err != nil || n == 0 {
		return nil, err
	}
	return sqlite.Pairs[string, bool](ctx, db, "SELECT name, 1 FROM migrations")
}

// applyFile runs one file in a transaction, unless another process has done so meanwhile.
func applyFile(ctx context.Context, db *sql.DB, name, script string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migrations (
		name TEXT NOT NULL PRIMARY KEY, applied INTEGER NOT NULL) STRICT, WITHOUT ROWID`); err != nil {
		return err
	}
	n, err := sqlite.Change(ctx, tx, "INSERT INTO migrations (name, applied) VALUES (?, ?) ON CONFLICT DO NOTHING",
		name, time.Now().UnixMilli())
	if err != nil || n == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, script); err != nil {
		return err
	}
	return tx.Commit()
}
