package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/Signet-AI/signet-acp-proxy/sqlite"
)

// counters are tables that have a row from the beginning.
var counters = map[string]string{"passages_total": "(0, 0)", "passages_backlog": "(0)"}

// Blank returns a database in memory with the schema that another one has, whatever is right or wrong about that, and
// with no rows but its counters. The other one is only read. The caller closes the new one.
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
	for table, row := range counters {
		var counts bool
		err := of.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+table+`)`).Scan(&counts)
		if err == nil && counts {
			_, err = db.ExecContext(ctx, `INSERT INTO `+table+` VALUES `+row)
		}
		if err != nil {
			return sqlite.Explain(err)
		}
	}
	return nil
}
