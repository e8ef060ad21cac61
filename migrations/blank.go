package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// Blank returns a database in memory with the schema that another one has, whatever is right or wrong about that, and
// with no rows but the index's counts. The other one is only read. The caller closes the new one.
func Blank(ctx context.Context, of *sql.DB) (*sql.DB, error) {
	objects, err := objectsOf(ctx, of)
	if err != nil {
		return nil, sqlite.Explain(err)
	}
	db, err := sql.Open(DriverName, ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := fill(ctx, db, of, objects); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func fill(ctx context.Context, db, of *sql.DB, objects []object) error {
	if _, err := db.ExecContext(ctx, "PRAGMA foreign_keys = ON"); err != nil {
		return err
	}
	for _, o := range objects {
		var made bool // by a virtual table before it
		if err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?)`,
			o.name).Scan(&made); err != nil {
			return err
		}
		if made {
			continue
		}
		if _, err := db.ExecContext(ctx, o.sql); err != nil {
			return fmt.Errorf("%s %s: %w", o.kind, o.name, sqlite.Explain(err))
		}
	}
	counts, err := sqlite.Collect(ctx, of, sqlite.One[string], `SELECT kind FROM passages_index WHERE id = 0`)
	for _, kind := range counts {
		if err == nil {
			_, err = db.ExecContext(ctx, `INSERT INTO passages_index (kind) VALUES (?)`, kind)
		}
	}
	return sqlite.Explain(err)
}
