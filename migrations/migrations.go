// Package migrations opens the database file and brings its schema up to date. It is the only package that links the SQLite driver.
//
// The schema is the numbered .sql files of this folder, applied in order of their names, one transaction each, and recorded by name. A file
// whose name ends in _fts5.sql is applied only by a build that has FTS5 (-tags sqlite_fts5); a build without it leaves the file for the next
// one that has, so the other files must work without. A file that was released is never changed.
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
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/Signet-AI/signet-acp-proxy/correlation"
)

// Errors of Open beyond correlation's (ErrReadOnly, ErrBusy, ErrFull, ErrCorrupt, ErrDisk).
var (
	ErrNewer     = errors.New("written by a newer version: update signet-acp-proxy")
	ErrNetworkFS = errors.New("on a network file system, where SQLite's locks cannot be trusted: choose a local file with --db")
)

//go:embed *.sql
var files embed.FS

// FTS5 reports whether full-text search was built in (-tags sqlite_fts5).
func FTS5() bool { return builtWithFTS5 }

// Open opens the database at path, creating it (0600) and its folder (0700) where they are missing, takes permissions of others away from the
// files and from a folder of ours, and applies what is missing of the schema. Waiting for another process ends with ctx, or after 5 s.
// The database has one connection; write in transactions (BEGIN IMMEDIATE), whose contexts' deadlines are kept.
// Opening does not look for damage: an error may be found only when a damaged page is read.
func Open(ctx context.Context, path string) (*sql.DB, error) {
	db, err := open(ctx, path, files)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, correlation.Explain(err))
	}
	return db, nil
}

// Look opens the database at path to read what is in it, and leaves no trace: no file is made, nothing is written and no schema applied, so
// that what is looked for may be missing. A database that is not there is an error that errors.Is fs.ErrNotExist.
func Look(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(path + "-wal")
	db := sql.OpenDB(&connector{path: path, driver: &sqlite3.SQLiteDriver{}, reads: true, alone: err != nil})
	db.SetMaxOpenConns(1)
	return db, nil
}

func open(ctx context.Context, path string, schema fs.FS) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := secure(path); err != nil {
		return nil, err
	}
	db := sql.OpenDB(&connector{path: path, driver: &sqlite3.SQLiteDriver{}})
	db.SetMaxOpenConns(1)
	if err := apply(ctx, db, schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// apply runs the files of schema that the database does not have yet.
func apply(ctx context.Context, db *sql.DB, schema fs.FS) error {
	names, err := fs.Glob(schema, "*.sql") // in lexical order
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(names))
	for _, name := range names {
		known[name] = true
	}
	applied, err := appliedTo(ctx, db)
	if err != nil {
		return err
	}
	for name := range applied {
		if !known[name] {
			return fmt.Errorf("%w (it has %s)", ErrNewer, name)
		}
	}
	for _, name := range names {
		if applied[name] || strings.HasSuffix(name, "_fts5.sql") && !FTS5() {
			continue
		}
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

// appliedTo gives the names of the files that the database has, none for a new one.
func appliedTo(ctx context.Context, db *sql.DB) (map[string]bool, error) {
	var n int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").Scan(&n)
	if err != nil || n == 0 {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT name FROM migrations")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	applied := make(map[string]bool)
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		applied[name] = true
	}
	return applied, rows.Err()
}

// applyFile runs one file in a transaction, unless another process did so meanwhile.
func applyFile(ctx context.Context, db *sql.DB, name, script string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS migrations (name TEXT NOT NULL PRIMARY KEY, applied INTEGER NOT NULL) STRICT, WITHOUT ROWID"); err != nil {
		return err
	}
	recorded, err := tx.ExecContext(ctx, "INSERT INTO migrations (name, applied) VALUES (?, ?) ON CONFLICT DO NOTHING", name, time.Now().UnixMilli())
	if err != nil {
		return err
	}
	if n, err := recorded.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, script); err != nil {
		return err
	}
	return tx.Commit()
}
